//! Pictures against those that were looked at and found good, and pictures of what is hard to draw.
//!
//! `BURNTRACE_GOLDEN=write cargo test -p burntrace-plot --test plot` writes the pictures anew
//! instead of comparing them; look at each of them before it is committed.

use crate::samples;
use burntrace_plot::color::ColorMap;
use burntrace_plot::picture::{self, Background, Picture, Plane, Range, Scale, Style, View};
use burntrace_plot::{Error, Raster, Trajectories};
use quick_xml::events::Event;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

const XY: View = View::Plane(Plane::Xy);

fn small() -> Style {
    Style { size: [480, 320], ..Style::default() }
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.png"))
}

/// Size, red, green and blue of a PNG file.
fn read_png(path: &Path) -> ([u32; 2], Vec<u8>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).expect("the picture is there"));
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgb).unwrap();
    ([info.width, info.height], rgb)
}

/// Compares a picture with the one in `golden`. Rounding differs between machines by one step of a
/// colour, at the rims of letters and lines by a few.
fn compare(name: &str, picture: &Picture) {
    let path = golden(name);
    if std::env::var("BURNTRACE_GOLDEN").is_ok_and(|what| what == "write") {
        return picture.write_png(&path).unwrap();
    }
    let (size, wanted) = read_png(&path);
    assert_eq!(size, picture.size());
    let rgb = picture.rgb();
    let far = rgb.iter().zip(&wanted).filter(|(a, b)| a.abs_diff(**b) > 8).count();
    assert!(far <= 30, "{name}: {far} of {} colours differ from {}", rgb.len(), path.display());
}

#[test]
fn tracks_in_a_plane() {
    let picture = picture::tracks(&samples::gyres(40, 101), &XY, &small()).unwrap();
    compare("tracks_xy", &picture);
}

#[test]
fn tracks_in_space_on_dark() {
    let style = Style { background: Background::Dark, color_by: Some("age".into()), ..small() };
    let style = Style { colors: ColorMap::Plasma, ..style };
    compare("tracks_3d", &picture::tracks(&samples::screws(30, 81), &View::SPACE, &style).unwrap());
}

#[test]
fn a_field_with_particles_and_a_diverging_map() {
    let style = Style { colors: ColorMap::CoolWarm, ..small() };
    let particles = (0..60).map(|i| f64::from(i) / 60.0);
    let particles: Vec<_> =
        particles.map(|i| [2.0 * samples::scatter(i, 5.0), samples::scatter(i, 6.0)]).collect();
    compare("field", &picture::raster(&samples::hills(60, 30), &particles, &style).unwrap());
}

#[test]
fn a_stacked_histogram() {
    compare("histogram", &picture::histogram(&samples::residence(), &small()).unwrap());
}

#[test]
fn curves_on_logarithmic_axes() {
    compare("curves", &picture::curves(&samples::spread(), &small()).unwrap());
}

#[test]
fn no_particles_at_all() {
    compare("nothing", &picture::tracks(&samples::gyres(0, 2), &XY, &small()).unwrap());
}

/// Pictures of what is hard to draw, with their names.
fn hard(size: [u32; 2]) -> Vec<(String, Picture)> {
    let style = Style { size, ..Style::default() };
    let mut pictures = Vec::new();
    for (name, ways) in hard_ways() {
        for (plane, view) in [("xy", XY), ("xz", View::Plane(Plane::Xz)), ("3d", View::SPACE)] {
            pictures
                .push((format!("{name}_{plane}"), picture::tracks(&ways, &view, &style).unwrap()));
        }
    }
    for (azimuth, elevation) in
        [(0.0, 0.0), (-90.0, 90.0), (45.0, -30.0), (200.0, 30.0), (-60.0, 5.0), (-90.0, 0.0)]
    {
        let view = View::Space { azimuth, elevation };
        let picture = picture::tracks(&samples::screws(30, 81), &view, &style).unwrap();
        pictures.push((format!("angles_{azimuth}_{elevation}"), picture));
    }
    for (name, raster) in hard_rasters() {
        for scale in [Scale::Linear, Scale::Log] {
            let style = Style { scale, ..style.clone() };
            let picture = picture::raster(&raster, &[], &style).unwrap();
            pictures.push((format!("{name}_{scale:?}").to_lowercase(), picture));
        }
    }
    pictures
}

fn hard_ways() -> Vec<(&'static str, Trajectories)> {
    let box_of = |low: f64, high: f64| samples::across(20, [low; 3], [high; 3]);
    let mut nowhere = samples::gyres(5, 4);
    nowhere.position.fill([f32::NAN; 3]);
    let mut missing = samples::gyres(5, 40);
    missing.attributes[0].values.fill(f32::NAN);
    let mut plain = samples::gyres(5, 40);
    plain.attributes.clear();
    plain.length_unit.clear();
    let mut long = samples::gyres(5, 40);
    long.attributes[0].name =
        "mean speed of the particle relative to the surrounding fluid over its way".into();
    long.length_unit = "hectometres of the old survey".into();
    long.of = [12_345_678, 1_000_001];
    let mut still = samples::gyres(3, 4);
    still.position.fill([1.0, 0.5, 0.0]);
    vec![
        ("tiny", box_of(0.0, 3.1e-9)),
        ("huge", box_of(-1e7, 2e7)),
        ("offset", box_of(4000.0, 4000.02)),
        ("negative", box_of(-0.004, -0.001)),
        ("flat", samples::across(20, [0.0, 0.0, 3.0], [10.0, 4.0, 3.0])),
        ("channel", samples::across(20, [0.0; 3], [1000.0, 3.0, 1.0])),
        ("tower", samples::across(20, [0.0; 3], [1.0, 300.0, 30.0])),
        ("one", samples::gyres(1, 101)),
        ("one_save", samples::gyres(50, 1)),
        ("no_particle", samples::gyres(0, 5)),
        ("no_save", samples::gyres(3, 0)),
        ("nowhere", nowhere),
        ("no_speed", missing),
        ("plain", plain),
        ("long", long),
        ("still", still),
        ("nothing", Trajectories::default()),
    ]
}

fn hard_rasters() -> Vec<(&'static str, Raster)> {
    let change = |change: &dyn Fn(&mut Raster)| {
        let mut raster = samples::hills(60, 30);
        change(&mut raster);
        raster
    };
    let scaled = |factor: f32, offset: f32| {
        change(&move |raster| raster.values.iter_mut().for_each(|v| *v = *v * factor + offset))
    };
    vec![
        ("raster", samples::hills(60, 30)),
        ("raster_tiny", scaled(1e-9, 0.0)),
        ("raster_huge", scaled(1e7, 1e7)),
        ("raster_offset", scaled(1.0, 1e5)),
        ("raster_constant", change(&|raster| raster.values.fill(3.0))),
        ("raster_empty", change(&|raster| raster.values.fill(f32::NAN))),
        (
            "raster_row",
            change(&|raster| {
                raster.values.truncate(60);
                raster.counts = [60, 1];
                raster.axes[1].range = [0.5; 2];
            }),
        ),
    ]
}

/// A tag with its attributes.
type Tag = (String, HashMap<String, String>);

/// The tags of an SVG file, and its texts.
fn read_svg(svg: &str) -> (Vec<Tag>, Vec<String>) {
    let mut reader = quick_xml::Reader::from_str(svg);
    let (mut tags, mut texts, mut open) = (Vec::new(), Vec::new(), 0);
    loop {
        let event = reader.read_event().expect("the file is well-formed");
        match &event {
            Event::Start(tag) | Event::Empty(tag) => {
                let attributes = tag.attributes().map(|attribute| {
                    let attribute = attribute.expect("an attribute");
                    let name = attribute.key.as_ref().to_string();
                    (name, attribute.value.to_string())
                });
                let name = tag.name().as_ref().to_string();
                tags.push((name, attributes.collect()));
                open += i32::from(matches!(event, Event::Start(_)));
            }
            Event::End(_) => open -= 1,
            Event::Text(text) => texts.push(text.to_string()),
            Event::GeneralRef(name) => texts.push(format!("&{};", &**name)),
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(open, 0, "tags are left open");
    (tags, texts)
}

#[test]
fn svg_files_are_well_formed_and_have_the_texts_and_lines_of_the_picture() {
    let mut ways = samples::gyres(3, 21);
    ways.attributes[0].name = "speed <&>".into();
    let svg = picture::tracks(&ways, &XY, &small()).unwrap().svg();
    let (tags, texts) = read_svg(&svg);
    let text = texts.concat();
    for wanted in
        ["Tracks of 3 particles", "x (m)", "y (m)", "0.2", "speed &lt;&amp;&gt; (m/s)", "start"]
    {
        assert!(text.contains(wanted), "no {wanted} in {text}");
    }
    let lines = |tag: &Tag| tag.1.get("d").map_or(0, |d| d.matches('L').count());
    let count: usize = tags.iter().map(lines).sum();
    // 3 tracks of 20 lines, and some 50 of the axes and their grid.
    assert!((3 * 20 + 20..3 * 20 + 70).contains(&count), "{count} lines");
    assert_eq!(tags.iter().filter(|(name, _)| name == "circle").count(), 2 * 3 + 2);
}

#[test]
fn many_lines_of_an_svg_file_are_one_element_for_each_colour() {
    let svg = picture::tracks(&samples::gyres(1000, 101), &XY, &small()).unwrap().svg();
    let (tags, _) = read_svg(&svg);
    let paths = tags.iter().filter(|(name, _)| name == "path").count();
    assert!((100..=300).contains(&paths), "{paths} paths");
}

#[test]
fn hard_cases_have_pictures_within_which_all_text_is() {
    for size in [[1200, 800], [600, 400]] {
        for (name, picture) in hard(size) {
            let (tags, _) = read_svg(&picture.svg());
            let number =
                |of: &HashMap<String, String>, name: &str| of[name].parse::<f64>().unwrap();
            for (_, text) in tags.iter().filter(|(tag, _)| tag == "text") {
                let at = [number(text, "x"), number(text, "y")];
                let inside = (0..2).all(|i| at[i] >= 0.0 && at[i] <= f64::from(size[i]));
                assert!(inside, "{name}: text at {at:?}");
            }
            assert!(edges_are_empty(&picture), "{name}: something is cut off at {size:?}");
        }
    }
}

/// Whether the outermost pixels have the colour of the paper: nothing is cut off.
fn edges_are_empty(picture: &Picture) -> bool {
    let rgb = picture.rgb();
    let [width, height] = picture.size().map(|side| side as usize);
    let pixels = rgb.chunks(3).enumerate();
    let at_edge =
        |i: usize| [0, width - 1].contains(&(i % width)) || [0, height - 1].contains(&(i / width));
    pixels.filter(|(i, _)| at_edge(*i)).all(|(_, pixel)| pixel == [255; 3])
}

#[test]
fn numbers_from_all_over_are_drawn_or_refused() {
    let far = [f64::MAX, f64::MIN, f64::MIN_POSITIVE, 1e300, -1e-300, 0.0, f64::NAN, f64::INFINITY];
    let style = |i: usize| Style {
        size: [[160, 160], [2000, 160], [160, 2000]][i % 3],
        scale: if i.is_multiple_of(2) { Scale::Linear } else { Scale::Log },
        colors: ColorMap::ALL[i % 6],
        ..Style::default()
    };
    for (i, &a) in far.iter().enumerate() {
        for (j, &b) in far.iter().enumerate() {
            let mut ways = samples::gyres(3, 4);
            ways.domain = [[a, 0.0, b], [b, 1.0, a]];
            ways.position[0] = [a as f32, b as f32, 0.0];
            ways.attributes[0].values[..2].copy_from_slice(&[a as f32, b as f32]);
            for view in [XY, View::Plane(Plane::Yz), View::SPACE] {
                let picture = picture::tracks(&ways, &view, &style(i + j)).unwrap();
                assert!(!picture.rgb().is_empty() && !picture.svg().is_empty());
            }
            let mut field = samples::hills(4, 3);
            field.axes[0].range = [a, b];
            field.values[..2].copy_from_slice(&[a as f32, b as f32]);
            let refused = picture::raster(&field, &[[a, b]], &style(i + j)).is_err();
            assert_eq!(refused, !(a <= b && a.is_finite() && b.is_finite()), "{a} to {b}");
            let mut curves = samples::spread();
            curves.log = [i.is_multiple_of(2), j.is_multiple_of(2)];
            curves.series[0].1 = vec![[a, b], [b, a], [1.0, 1.0]];
            picture::curves(&curves, &style(i + j)).unwrap().rgb();
        }
    }
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let style = Style::default();
    let mut ways = samples::gyres(3, 4);
    let unknown = Style { color_by: Some("spead".into()), ..style.clone() };
    let error = picture::tracks(&ways, &XY, &unknown).unwrap_err().to_string();
    assert!(error.contains("`spead`") && error.contains("speed, age, seed"), "{error}");
    ways.times[1] = 100.0;
    let error = picture::tracks(&ways, &XY, &style).unwrap_err().to_string();
    assert!(error.contains("times of the saves are not in order"), "{error}");
    ways.joined.pop();
    let error = picture::tracks(&ways, &XY, &style).unwrap_err().to_string();
    assert!(
        error.contains("4 saves of 3 particles have 12 positions, but there are 11"),
        "{error}"
    );
    let mut field = samples::hills(4, 3);
    field.values.pop();
    let error = picture::raster(&field, &[], &style).unwrap_err().to_string();
    assert!(error.contains("4 x 3 samples are not 11 values"), "{error}");
    let mut times = samples::residence();
    times.edges.pop();
    let error = picture::histogram(&times, &style).unwrap_err().to_string();
    assert!(error.contains("40 edges bound 39 bins") && error.contains("outlet"), "{error}");
    for style in [
        Style { size: [100, 400], ..style.clone() },
        Style { opacity: Some(0.0), ..style.clone() },
        Style { line_width: Some(f64::NAN), ..style.clone() },
        Style { range: Range::Given([1.0, 1.0]), ..style.clone() },
        Style { range: Range::Given([-1.0, 1.0]), scale: Scale::Log, ..style.clone() },
    ] {
        let error = picture::curves(&samples::spread(), &style).unwrap_err();
        assert!(matches!(error, Error::Size { .. } | Error::Option { .. }), "{error}");
    }
    let error = "zx".parse::<View>().unwrap_err().to_string();
    assert!(error.contains("`zx` is no view; write one of xy, xz, yz, 3d"), "{error}");
}

#[test]
fn files_hold_what_the_picture_is() {
    let folder = tempfile::tempdir().unwrap();
    let picture = picture::tracks(&samples::gyres(3, 21), &XY, &small()).unwrap();
    let path = folder.path().join("tracks.png");
    picture.write_png(&path).unwrap();
    assert_eq!(read_png(&path), ([480, 320], picture.rgb()));
    picture.write_svg(folder.path().join("tracks.svg")).unwrap();
    assert_eq!(std::fs::read_to_string(folder.path().join("tracks.svg")).unwrap(), picture.svg());
    let error = picture.write_png(folder.path().join("no/tracks.png")).unwrap_err();
    assert!(matches!(error, Error::Write { .. }), "{error}");
}

#[test]
#[ignore = "writes pictures into the folder BURNTRACE_PICTURES, to be looked at"]
fn gallery() {
    let folder = PathBuf::from(std::env::var("BURNTRACE_PICTURES").expect("a folder"));
    for size in [[1200, 800], [600, 400]] {
        for (name, picture) in hard(size) {
            picture.write_png(folder.join(format!("{}_{name}.png", size[0]))).unwrap();
        }
    }
    for particles in [10, 100, 1000, 10_000] {
        let (gyres, screws) = (samples::gyres(particles, 101), samples::screws(particles, 101));
        for (name, ways, view) in [("gyres", gyres, XY), ("screws", screws, View::SPACE)] {
            let start = std::time::Instant::now();
            let picture = picture::tracks(&ways, &view, &Style::default()).unwrap();
            picture.write_png(folder.join(format!("{name}_{particles}.png"))).unwrap();
            println!("{name} of {particles}: {:.3} s", start.elapsed().as_secs_f64());
            picture.write_svg(folder.join(format!("{name}_{particles}.svg"))).unwrap();
        }
    }
    let start = std::time::Instant::now();
    let field = picture::raster(&samples::hills(1000, 700), &[], &Style::default()).unwrap();
    field.write_png(folder.join("field.png")).unwrap();
    println!("field of 1000 x 700: {:.3} s", start.elapsed().as_secs_f64());
    picture::histogram(&samples::residence(), &Style::default())
        .unwrap()
        .write_png(folder.join("histogram.png"))
        .unwrap();
    picture::curves(&samples::spread(), &Style::default())
        .unwrap()
        .write_png(folder.join("curves.png"))
        .unwrap();
}
