//! Pictures compared with reviewed reference pictures, and pictures of difficult data.
//!
//! `BURNTRACE_GOLDEN=write cargo test -p burntrace-plot --test plot` writes the reference pictures
//! instead of comparing with them; review each of them before committing it.

use crate::samples;
use burntrace_plot::color::ColorMap;
use burntrace_plot::picture::{self, Background, Picture, Plane, Range, Scale, Style, View};
use burntrace_plot::{Axis, Curves, Error, Land, PartialLine, Raster, Surface, Trajectories};
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
    let file =
        std::io::BufReader::new(std::fs::File::open(path).expect("the reference picture exists"));
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgb).unwrap();
    ([info.width, info.height], rgb)
}

/// Compares a picture with the one in `golden`. Rounding differs between machines by one level of a
/// colour, and by a few at the edges of letters and lines.
fn compare(name: &str, picture: &Picture) {
    let path = golden(name);
    if std::env::var("BURNTRACE_GOLDEN").is_ok_and(|value| value == "write") {
        return picture.write_png(&path).unwrap();
    }
    let (size, expected) = read_png(&path);
    assert_eq!(size, picture.size());
    let rgb = picture.rgb();
    let differing = rgb.iter().zip(&expected).filter(|(a, b)| a.abs_diff(**b) > 8).count();
    let (count, path) = (rgb.len(), path.display());
    assert!(differing <= 30, "{name}: {differing} of {count} colours differ from {path}");
}

#[test]
fn tracks_in_a_plane_match_the_reference() {
    let picture = picture::tracks(&samples::gyres(40, 101), &XY, &small()).unwrap();
    compare("tracks_xy", &picture);
}

#[test]
fn tracks_in_space_on_dark_match_the_reference() {
    let style = Style { background: Background::Dark, color_by: Some("age".into()), ..small() };
    let style = Style { colors: Some(ColorMap::Plasma), ..style };
    compare("tracks_3d", &picture::tracks(&samples::screws(30, 81), &View::SPACE, &style).unwrap());
}

#[test]
fn zoom_shows_a_part_of_the_domain() {
    let tracks = samples::gyres(40, 101);
    for view in [XY, View::SPACE] {
        let style = Style { zoom: 4.0, dots: false, ..small() };
        let svg = picture::tracks(&tracks, &view, &style).unwrap().svg();
        // A quarter of the length of the domain of 2 x 1, around the middle.
        assert!(svg.contains(">1.0") && !svg.contains(">2.0"), "{svg}");
    }
    let refused = Style { zoom: 0.5, ..small() };
    let error = picture::tracks(&tracks, &XY, &refused).unwrap_err().to_string();
    assert!(error.contains("zoom") && error.contains("from 1 to 10,000"), "{error}");
}

#[test]
fn perspective_enlarges_what_is_near() {
    let tracks = samples::screws(5, 11);
    let flat = picture::tracks(&tracks, &View::SPACE, &small()).unwrap();
    let style = Style { perspective: true, ..small() };
    let near = picture::tracks(&tracks, &View::SPACE, &style).unwrap();
    assert_ne!(flat.rgb(), near.rgb());
}

/// The number of pixels of a colour.
fn count_of(picture: &Picture, color: [u8; 3]) -> usize {
    picture.rgb().as_chunks::<3>().0.iter().filter(|pixel| **pixel == color).count()
}

#[test]
fn bodies_hide_tracks_and_walls_do_not() {
    // Along the middle of a cube; the viewer is at negative y.
    let mut tracks =
        samples::trajectories(1, &samples::times(5, 1.0), [[0.0; 3], [1.0; 3]], |_, time| {
            [time, 0.5, 0.5]
        });
    tracks.attributes.clear();
    let view = View::Space { azimuth: -90.0, elevation: 0.0 };
    let style = Style { dots: false, line_width: Some(6.0), opacity: Some(1.0), ..small() };
    let drawn = |tracks: &Trajectories| {
        count_of(&picture::tracks(tracks, &view, &style).unwrap(), [0, 114, 178])
    };
    let all = drawn(&tracks);
    let sheet = |y: f64| {
        let [a, b, c, d] = [[0.0, y, 0.0], [0.5, y, 0.0], [0.5, y, 1.0], [0.0, y, 1.0]];
        vec![[a, b, c], [a, c, d]]
    };
    // Both sides, so that the one that faces the viewer is among them.
    let surface = |y: f64, is_wall: bool| {
        let other = sheet(y).into_iter().map(|[a, b, c]| [a, c, b]);
        Surface { triangles: sheet(y).into_iter().chain(other).collect(), is_wall }
    };
    tracks.surfaces = vec![surface(0.2, false)];
    let hidden = drawn(&tracks);
    assert!(hidden * 10 < all * 6 && hidden * 10 > all * 4, "{hidden} of {all}");
    tracks.surfaces = vec![surface(0.8, false)];
    assert_eq!(drawn(&tracks), all);
    tracks.surfaces = vec![surface(0.2, true)];
    assert_eq!(drawn(&tracks), all);
}

/// The colour of land on a light background.
const LAND: [u8; 3] = [199, 200, 201];

/// The lower left quarter of a box of 2 x 1.
fn quarter() -> Option<Land> {
    let walls = [vec![0.0, 1.0, 2.0], vec![0.0, 0.5, 1.0]];
    Some(Land::new(walls, |i, j| (i, j) == (0, 0)))
}

#[test]
fn land_is_shaded_behind_tracks() {
    let mut tracks = samples::gyres(1, 2);
    tracks.attributes.clear();
    let pictures = |tracks: &Trajectories, zoom: f64| {
        let style = Style { zoom, ..small() };
        [XY, View::Plane(Plane::Xz), View::SPACE]
            .map(|view| picture::tracks(tracks, &view, &style).unwrap())
    };
    let before = pictures(&tracks, 1.0);
    assert!(count_of(&before[0], LAND) < 10, "pixels of letters");
    tracks.land = quarter();
    let after = pictures(&tracks, 1.0);
    // The axes are about 400 x 200 pixels, and grid lines cross it.
    let land = count_of(&after[0], LAND);
    assert!((16_000..21_000).contains(&land), "{land}");
    assert_eq!(before[1].rgb(), after[1].rgb(), "land is on maps");
    assert_ne!(before[2].rgb(), after[2].rgb(), "its coast is in 3-D views");
    // All of the part that is shown.
    tracks.land = Some(Land::new([vec![-9.0, 9.0], vec![-9.0, 9.0]], |_, _| true));
    let zoomed = count_of(&pictures(&tracks, 4.0)[0], LAND);
    assert!((land * 3..land * 5).contains(&zoomed), "{zoomed}");
}

#[test]
fn land_covers_a_field_and_does_not_change_its_colours() {
    let mut field = samples::hills(21, 11);
    field.land = quarter();
    let draw = |field: &Raster| picture::raster(field, &[], &small()).unwrap();
    let before = draw(&field);
    assert!((10_000..18_000).contains(&count_of(&before, LAND)));
    // A sample in the middle of the land.
    field.values[2 * 21 + 4] = 1e6;
    assert_eq!(draw(&field).rgb(), before.rgb());
    field.land = None;
    assert_ne!(draw(&field).rgb(), before.rgb());
}

/// Width and height of land: its columns and rows of pixels. Letters have a few of its colour.
fn extent_of_land(picture: &Picture) -> [usize; 2] {
    let (width, rgb) = (picture.size()[0] as usize, picture.rgb());
    let pixels = rgb.as_chunks::<3>().0.iter().enumerate();
    let land = pixels.filter(|(_, pixel)| **pixel == LAND).map(|(i, _)| [i % width, i / width]);
    let mut numbers = [0, 1].map(|_| HashMap::<usize, usize>::new());
    for pixel in land {
        for (numbers, index) in numbers.iter_mut().zip(pixel) {
            *numbers.entry(index).or_default() += 1;
        }
    }
    numbers.map(|numbers| numbers.values().filter(|number| **number >= 15).count())
}

#[test]
fn maps_in_degrees_have_the_scales_of_the_middle_latitude() {
    let axis = |name: &str, range| Axis { name: name.into(), unit: "°".into(), range };
    let square = |longitudes, latitudes| Raster {
        axes: [axis("longitude", longitudes), axis("latitude", latitudes)],
        land: Some(
            Land::new([vec![-5.0, 5.0], vec![55.0, 65.0]], |_, _| true).repeated(Some(360.0)),
        ),
        ..samples::hills(31, 21)
    };
    let regional = picture::raster(&square([345.0, 375.0], [50.0, 70.0]), &[], &small()).unwrap();
    let [width, height] = extent_of_land(&regional).map(|pixels| pixels as f64);
    assert!((width / height - 0.5).abs() < 0.02, "{width} {height}");
    let svg = regional.svg();
    for text in [">10°W<", ">0°<", ">10°E<", ">60°N<", ">Longitude<", ">Latitude<"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    assert!(!svg.contains(" km<"), "the radius is unknown");
    let on_earth = |of: Raster| Raster { radius: Some(6_371_008.8), ..of };
    let earth = on_earth(square([345.0, 375.0], [50.0, 70.0]));
    let style = Style { size: [800, 600], ..small() };
    let svg = picture::raster(&earth, &[], &style).unwrap().svg();
    // 15 degrees wide are 1668 km at 60 degrees north.
    assert!(svg.contains(">200 km<"), "{svg}");
    let globe = on_earth(square([-180.0, 180.0], [-90.0, 90.0]));
    let global = picture::raster(&globe, &[], &Style::default()).unwrap();
    let [width, height] = extent_of_land(&global);
    assert!(global.svg().contains(">90°W<") && width.abs_diff(height) <= 1, "{width} {height}");
    assert!(!global.svg().contains(" km<"), "no scale is that of the globe");
}

#[test]
fn tracks_begin_at_the_release() {
    let mut tracks = samples::trajectories(
        1,
        &samples::times(3, 1.0),
        [[0.0; 3], [1.0, 1.0, 0.0]],
        |_, time| [0.5 + 0.3 * time, 0.5, 0.0],
    );
    tracks.attributes.clear();
    let style = Style { dots: false, line_width: Some(4.0), opacity: Some(1.0), ..small() };
    let drawn = |tracks: &Trajectories| {
        count_of(&picture::tracks(tracks, &XY, &style).unwrap(), [0, 114, 178]) as f64
    };
    let from_save = drawn(&tracks);
    tracks.partial = vec![PartialLine { index: 0, position: [0.2, 0.5, 0.0], is_release: true }];
    let ratio = drawn(&tracks) / from_save;
    assert!((ratio - 2.0).abs() < 0.1, "{ratio}");
}

#[test]
fn a_track_ends_with_its_dot_where_its_line_ends() {
    let times = samples::times(3, 1.0);
    let domain = [[0.0; 3], [1.0, 1.0, 0.0]];
    let mut tracks = samples::trajectories(1, &times, domain, |_, time| [0.3 * time, 0.5, 0.0]);
    let circles = |tracks: &Trajectories| -> Vec<f64> {
        let svg = picture::tracks(tracks, &XY, &small()).unwrap().svg();
        let dots = svg.split("<circle cx=\"").skip(1);
        dots.map(|dot| dot.split('"').next().unwrap().parse().unwrap()).collect()
    };
    let before = circles(&tracks);
    tracks.partial = vec![PartialLine { index: 2, position: [0.9, 0.5, 0.0], is_release: false }];
    let after = circles(&tracks);
    let [start, end] = [0, before.len() - 1];
    assert_eq!((after.len(), after[start]), (before.len(), before[start]));
    // From 0.3 to 0.9.
    assert!(after[end] - before[end] > 100.0, "{before:?} {after:?}");
}

#[test]
fn field_with_particles_and_diverging_map_matches_the_reference() {
    let style = Style { colors: Some(ColorMap::CoolWarm), ..small() };
    let particles = (0..60).map(|i| f64::from(i) / 60.0);
    let particles: Vec<_> =
        particles.map(|i| [2.0 * samples::scatter(i, 5.0), samples::scatter(i, 6.0)]).collect();
    compare("field", &picture::raster(&samples::hills(60, 30), &particles, &style).unwrap());
}

#[test]
fn stacked_histogram_matches_the_reference() {
    compare("histogram", &picture::histogram(&samples::residence(), &small()).unwrap());
}

#[test]
fn bands_are_translucent_areas_within_the_axes() {
    let mut curves = samples::spread();
    curves.log = [false; 2];
    curves.series.truncate(1);
    curves.series[0].1 = vec![[0.0, 5.0], [10.0, 5.0]];
    curves.axes[1].range = [0.0, 10.0];
    let picture = |curves: &Curves| picture::curves(curves, &small()).unwrap();
    let area = |curves: &Curves| {
        let (with, mut without) = (picture(curves).rgb(), curves.clone());
        without.bands.clear();
        let without = picture(&without).rgb();
        with.chunks(3).zip(without.chunks(3)).filter(|(a, b)| a != b).count() as f64
    };
    curves.bands = vec![(0, vec![[0.0, 4.0, 6.0], [10.0, 4.0, 6.0]])];
    let narrow = area(&curves);
    curves.bands = vec![(0, vec![[0.0, 3.0, 7.0], [10.0, 3.0, 7.0]])];
    assert!((area(&curves) / narrow - 2.0).abs() < 0.1, "{narrow}");
    // A band that becomes narrower linearly has half the area.
    curves.bands = vec![(0, vec![[0.0, 3.0, 7.0], [10.0, 5.0, 5.0]])];
    assert!((area(&curves) / narrow - 1.0).abs() < 0.1, "{narrow}");
    curves.bands = vec![(0, vec![[0.0, -90.0, 90.0], [10.0, -90.0, 90.0]])];
    let whole = area(&curves);
    assert!(
        (whole / narrow - 5.0).abs() < 0.25,
        "{whole} is within the axes, {narrow} a fifth of them"
    );
    // Two bands on each other are darker.
    let shade = |curves: &Curves| picture(curves).rgb().iter().map(|x| u64::from(*x)).sum::<u64>();
    let once = shade(&curves);
    curves.bands.push(curves.bands[0].clone());
    assert!(shade(&curves) < once);
    // A point without neighbours has an error bar: a line and two caps.
    let lines = |curves: &Curves| picture(curves).svg().matches("stroke=\"#0072b2\"").count();
    curves.bands.clear();
    let before = lines(&curves);
    curves.bands = vec![(0, vec![[5.0, 3.0, 7.0]])];
    assert_eq!(lines(&curves), before + 1);
    assert!(area(&curves) > 20.0 && area(&curves) < 0.1 * narrow);
}

#[test]
fn points_of_curves_with_few_of_them_have_dots() {
    let mut curves = samples::spread();
    let dots = |curves: &Curves| {
        picture::curves(curves, &small()).unwrap().svg().matches("<circle").count()
    };
    assert_eq!(dots(&curves), 0);
    curves.series[0].1.truncate(24);
    assert_eq!(dots(&curves), 24);
}

#[test]
fn curves_on_logarithmic_axes_match_the_reference() {
    compare("curves", &picture::curves(&samples::spread(), &small()).unwrap());
}

#[test]
fn picture_without_particles_shows_a_message() {
    compare("nothing", &picture::tracks(&samples::gyres(0, 2), &XY, &small()).unwrap());
}

/// Pictures of difficult data, with their names.
fn difficult(size: [u32; 2]) -> Vec<(String, Picture)> {
    let style = Style { size, ..Style::default() };
    let mut pictures = Vec::new();
    for (name, trajectories) in difficult_trajectories() {
        for (plane, view) in [("xy", XY), ("xz", View::Plane(Plane::Xz)), ("3d", View::SPACE)] {
            pictures.push((
                format!("{name}_{plane}"),
                picture::tracks(&trajectories, &view, &style).unwrap(),
            ));
        }
    }
    for (azimuth, elevation) in
        [(0.0, 0.0), (-90.0, 90.0), (45.0, -30.0), (200.0, 30.0), (-60.0, 5.0), (-90.0, 0.0)]
    {
        let view = View::Space { azimuth, elevation };
        let picture = picture::tracks(&samples::screws(30, 81), &view, &style).unwrap();
        pictures.push((format!("angles_{azimuth}_{elevation}"), picture));
    }
    for (name, raster) in difficult_rasters() {
        for scale in [Scale::Linear, Scale::Log] {
            let style = Style { scale, ..style.clone() };
            let picture = picture::raster(&raster, &[], &style).unwrap();
            pictures.push((format!("{name}_{scale:?}").to_lowercase(), picture));
        }
    }
    pictures
}

fn difficult_trajectories() -> Vec<(&'static str, Trajectories)> {
    let box_of = |low: f64, high: f64| samples::across(20, [low; 3], [high; 3]);
    let mut no_position = samples::gyres(5, 4);
    no_position.position.fill([f64::NAN; 3]);
    let mut missing = samples::gyres(5, 40);
    missing.attributes[0].values.fill(f32::NAN);
    let mut plain = samples::gyres(5, 40);
    plain.attributes.clear();
    plain.length_unit.clear();
    let mut long = samples::gyres(5, 40);
    long.attributes[0].name =
        "mean speed of the particle relative to the surrounding fluid over its path".into();
    long.length_unit = "hectometres of the old survey".into();
    long.run_size = [12_345_678, 1_000_001];
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
        ("no_position", no_position),
        ("no_speed", missing),
        ("plain", plain),
        ("long", long),
        ("still", still),
        ("nothing", Trajectories::default()),
    ]
}

fn difficult_rasters() -> Vec<(&'static str, Raster)> {
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
fn svg_files_are_well_formed_and_contain_all_texts_and_lines() {
    let mut trajectories = samples::gyres(3, 21);
    trajectories.attributes[0].name = "speed <&>".into();
    let svg = picture::tracks(&trajectories, &XY, &small()).unwrap().svg();
    let (tags, texts) = read_svg(&svg);
    let text = texts.concat();
    for expected in
        ["Tracks of 3 particles", "x (m)", "y (m)", "0.2", "Speed &lt;&amp;&gt; (m/s)", "Start"]
    {
        assert!(text.contains(expected), "no {expected} in {text}");
    }
    let lines = |tag: &Tag| tag.1.get("d").map_or(0, |d| d.matches('L').count());
    let count: usize = tags.iter().map(lines).sum();
    // 3 tracks of 20 lines, and about 50 lines of the axes and their grid.
    assert!((3 * 20 + 20..3 * 20 + 70).contains(&count), "{count} lines");
    assert_eq!(tags.iter().filter(|(name, _)| name == "circle").count(), 2 * 3 + 2);
}

#[test]
fn many_lines_of_an_svg_file_are_grouped_by_colour() {
    let svg = picture::tracks(&samples::gyres(1000, 101), &XY, &small()).unwrap().svg();
    let (tags, _) = read_svg(&svg);
    let paths = tags.iter().filter(|(name, _)| name == "path").count();
    assert!((100..=300).contains(&paths), "{paths} paths");
}

#[test]
fn text_of_difficult_pictures_is_inside_the_picture() {
    for size in [[1200, 800], [600, 400]] {
        for (name, picture) in difficult(size) {
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

/// Whether the outermost pixels have the background colour, so that nothing is cut off.
fn edges_are_empty(picture: &Picture) -> bool {
    let rgb = picture.rgb();
    let [width, height] = picture.size().map(|side| side as usize);
    let pixels = rgb.chunks(3).enumerate();
    let at_edge =
        |i: usize| [0, width - 1].contains(&(i % width)) || [0, height - 1].contains(&(i / width));
    pixels.filter(|(i, _)| at_edge(*i)).all(|(_, pixel)| pixel == [255; 3])
}

#[test]
fn extreme_numbers_are_drawn_or_refused() {
    let extremes =
        [f64::MAX, f64::MIN, f64::MIN_POSITIVE, 1e300, -1e-300, 0.0, f64::NAN, f64::INFINITY];
    let style = |i: usize| Style {
        size: [[160, 160], [2000, 160], [160, 2000]][i % 3],
        scale: if i.is_multiple_of(2) { Scale::Linear } else { Scale::Log },
        colors: Some(ColorMap::ALL[i % 6]),
        ..Style::default()
    };
    for (i, &a) in extremes.iter().enumerate() {
        for (j, &b) in extremes.iter().enumerate() {
            let mut trajectories = samples::gyres(3, 4);
            trajectories.domain = [[a, 0.0, b], [b, 1.0, a]];
            trajectories.position[0] = [a, b, 0.0];
            trajectories.attributes[0].values[..2].copy_from_slice(&[a as f32, b as f32]);
            for view in [XY, View::Plane(Plane::Yz), View::SPACE] {
                let picture = picture::tracks(&trajectories, &view, &style(i + j)).unwrap();
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
fn dates_replace_the_times_of_saves() {
    let mut trajectories = samples::gyres(3, 4);
    trajectories.dates = [1, 2, 3, 4].map(|day| format!("2000-02-0{day} 06:00")).into();
    let (_, texts) = read_svg(&picture::tracks(&trajectories, &XY, &small()).unwrap().svg());
    assert!(texts.concat().contains("2000-02-01 06:00 to 2000-02-04 06:00"), "{texts:?}");
}

#[test]
fn invalid_data_and_styles_are_refused() {
    let style = Style::default();
    let mut trajectories = samples::gyres(3, 4);
    let unknown = Style { color_by: Some("spead".into()), ..style.clone() };
    let error = picture::tracks(&trajectories, &XY, &unknown).unwrap_err().to_string();
    assert!(error.contains("`spead`") && error.contains("speed, age, seed"), "{error}");
    trajectories.times[1] = 100.0;
    let error = picture::tracks(&trajectories, &XY, &style).unwrap_err().to_string();
    assert!(error.contains("times of the saves must be finite"), "{error}");
    trajectories.joined.pop();
    let error = picture::tracks(&trajectories, &XY, &style).unwrap_err().to_string();
    assert!(
        error.contains("4 saves of 3 particles have 12 positions, but there are 11"),
        "{error}"
    );
    let mut field = samples::hills(4, 3);
    field.values.pop();
    let error = picture::raster(&field, &[], &style).unwrap_err().to_string();
    assert!(error.contains("4 x 3 samples do not match 11 values"), "{error}");
    let mut histogram = samples::residence();
    histogram.edges.pop();
    let error = picture::histogram(&histogram, &style).unwrap_err().to_string();
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
    assert!(error.contains("unknown view `zx`; use one of xy, xz, yz, 3d"), "{error}");
}

#[test]
fn files_contain_the_pixels_and_the_svg_text() {
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

/// Ten million box lengths from 0, tracks cover as many pixels as near it: they are not rounded to a grid.
#[test]
fn tracks_far_from_zero_look_like_those_near_it() {
    let coloured = |by: f64| {
        let mut trajectories = samples::gyres(40, 101);
        let moved = |p: [f64; 3]| p.map(|x| x + by);
        trajectories.position.iter_mut().for_each(|p| *p = moved(*p));
        trajectories.domain = trajectories.domain.map(moved);
        let picture = picture::tracks(&trajectories, &XY, &small()).unwrap();
        let rgb = picture.rgb();
        let is_coloured =
            |pixel: &&[u8; 3]| pixel.iter().max().unwrap() - pixel.iter().min().unwrap() > 40;
        rgb.as_chunks::<3>().0.iter().filter(is_coloured).count() as f64
    };
    let (near, far) = (coloured(0.0), coloured(16_777_216.0));
    assert!(near > 1000.0 && (far / near - 1.0).abs() < 0.2, "{near} and {far} pixels");
}
