//! Figures for papers: sizes, PDF files, panels, categories, fields behind tracks, ends.

use crate::samples;
use burntrace_plot::color::ColorMap;
use burntrace_plot::picture::{self, Panel, Picture, Plane, Style, View};
use burntrace_plot::{Attribute, Axis, Error, Raster, Trajectories};
use miniz_oxide::inflate::decompress_to_vec_zlib;

const XY: View = View::Plane(Plane::Xy);

fn small() -> Style {
    Style { size: [480, 320], ..Style::default() }
}

/// The streams of a PDF file, decompressed.
fn streams(file: &[u8]) -> Vec<Vec<u8>> {
    let find = |from: usize, what: &[u8]| {
        file[from..].windows(what.len()).position(|part| part == what).map(|at| from + at)
    };
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(start) = find(at, b"\nstream\n").map(|at| at + 8) {
        let end = find(start, b"\nendstream").unwrap();
        let raw = || file[start..end].to_vec();
        all.push(decompress_to_vec_zlib(&file[start..end]).unwrap_or_else(|_| raw()));
        at = end;
    }
    all
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn figures_on_paper_have_their_size_and_font() {
    let style = Style::default().on_paper([84.0, 60.0], 600.0);
    let made = picture::tracks(&samples::gyres(20, 51), &XY, &style).unwrap();
    assert_eq!(made.size(), [1984, 1417]);
    let svg = made.svg();
    // To a pixel, of 42 micrometres.
    assert!(
        svg.contains("width=\"83.99mm\" height=\"59.99mm\" viewBox=\"0 0 1984 1417\""),
        "{svg:.300}"
    );
    // Labels of 8 points at 600 pixels per inch.
    assert!(count(&svg, "font-size=\"66.67\"") > 8, "{svg:.3000}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    made.write_png(&path).unwrap();
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let reader = png::Decoder::new(file).read_info().unwrap();
    let pixels = reader.info().pixel_dims.unwrap();
    assert_eq!((pixels.xppu, pixels.unit), (23_622, png::Unit::Meter));
    // On so small a picture, fewer tracks have dots.
    let dots = |particles: usize| {
        let tracks = samples::gyres(particles, 11);
        count(&picture::tracks(&tracks, &XY, &style).unwrap().svg(), "<circle")
    };
    assert_eq!([dots(150), dots(200)], [302, 0]);
    let own = Style { font_size: Some(7.0), ..Style::default() }.on_paper([84.0, 60.0], 600.0);
    assert_eq!(own.font_size, Some(7.0));
    for wrong in [
        Style { font_size: Some(0.0), ..small() },
        Style { font_size: Some(200.0), ..small() },
        Style { dpi: 1.0, ..small() },
    ] {
        let error = picture::tracks(&samples::gyres(2, 3), &XY, &wrong).unwrap_err();
        assert!(matches!(error, Error::Option { name: "font_size" | "dpi", .. }), "{error}");
    }
}

#[test]
fn pdf_files_have_live_text_lines_and_images() {
    let style = Style::default().on_paper([84.0, 60.0], 300.0);
    let made = picture::tracks(&samples::gyres(20, 51), &XY, &style).unwrap();
    let (file, svg) = (made.pdf(), made.svg());
    let text = String::from_utf8_lossy(&file).into_owned();
    assert!(text.starts_with("%PDF-1.7") && text.trim_end().ends_with("%%EOF"));
    // 992 x 709 pixels at 300 per inch.
    assert!(text.contains("/MediaBox [0 0 238.08 170.16]"), "{text:.900}");
    for part in
        ["/FontFile2", "/ToUnicode", "/Subtype /CIDFontType2", "/BaseFont /BTRACE+DejaVuSans"]
    {
        assert!(text.contains(part), "{part}");
    }
    let streams = streams(&file);
    let content = streams.iter().map(|stream| String::from_utf8_lossy(stream));
    let content = content.filter(|stream| stream.contains(" BT") || stream.contains("BT\n"));
    let content = content.max_by_key(|stream| stream.len()).unwrap().into_owned();
    // As many texts, and an image of the colour bar, as in the SVG file.
    assert_eq!(count(&content, "BT\n"), count(&svg, "<text"));
    assert_eq!(count(&text, "/Subtype /Image"), count(&svg, "<image"));
    // Dots are a line of no length each, of the edge and of what it surrounds.
    assert!(count(&content, " l\nS") >= 2 * count(&svg, "<circle"));
    // The letters of the glyphs, such as `S` of `Speed`.
    let letters = streams.iter().map(|stream| String::from_utf8_lossy(stream));
    let letters = letters.filter(|stream| stream.contains("beginbfchar")).collect::<String>();
    assert!(letters.contains("<0053>") && letters.contains("<00B0>"), "{letters:.500}");
}

/// Tracks with a category of each particle.
fn with_categories(names: &[&str]) -> Trajectories {
    let mut tracks = samples::gyres(20, 51);
    let row: Vec<f32> = (0..20).map(|i| (i % names.len()) as f32).collect();
    tracks.attributes.push(Attribute {
        name: "status".into(),
        values: row.repeat(51),
        categories: names.iter().map(ToString::to_string).collect(),
        ..Attribute::default()
    });
    tracks
}

fn pixels_of(picture: &Picture, color: [u8; 3]) -> usize {
    picture.rgb().as_chunks::<3>().0.iter().filter(|pixel| **pixel == color).count()
}

#[test]
fn categories_have_colors_of_their_own_and_a_legend() {
    let style = Style { color_by: Some("status".into()), opacity: Some(1.0), ..small() };
    let tracks = with_categories(&["active", "exited x-high"]);
    let made = picture::tracks(&tracks, &XY, &style).unwrap();
    let svg = made.svg();
    assert!(svg.contains(">active<") && svg.contains(">exited x-high<"), "{svg:.900}");
    // Blue and orange of Okabe and Ito, and no colour bar.
    assert!(pixels_of(&made, [0, 114, 178]) > 500 && pixels_of(&made, [230, 159, 0]) > 500);
    assert_eq!((count(&svg, "<image"), pixels_of(&made, [0, 158, 115])), (0, 0));
    // The last category is drawn last, whatever the order of particles.
    let paths: Vec<&str> = svg.split("<path stroke=\"").skip(1).map(|path| &path[..7]).collect();
    let first = paths.iter().position(|color| *color == "#e69f00").unwrap();
    assert!(!paths[first..].contains(&"#0072b2"), "{paths:?}");
    // Nine categories: seven with colours, and others.
    let names: Vec<String> = (0..9).map(|i| format!("status {i}")).collect();
    let many = with_categories(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let svg = picture::tracks(&many, &XY, &style).unwrap().svg();
    assert!(svg.contains(">status 6<") && svg.contains(">others<") && !svg.contains(">status 7<"));
}

#[test]
fn points_are_where_particles_are_last() {
    let mut tracks = samples::gyres(30, 11);
    tracks.attributes.clear();
    let made = picture::points(&tracks, &XY, &small()).unwrap();
    let svg = made.svg();
    assert_eq!(count(&svg, "<circle"), 30);
    assert!(svg.contains(">Positions of 30 particles<"), "{svg:.600}");
    let last = tracks.clone().last(0.0);
    assert_eq!(last.times, [10.0]);
    let circles = |svg: &str| {
        svg.split("<circle")
            .skip(1)
            .map(|of| of.split("/>").next().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(circles(&picture::points(&last, &XY, &small()).unwrap().svg()), circles(&svg));
}

#[test]
fn the_last_time_of_tracks_is_a_run_of_its_own() {
    let tracks = samples::gyres(5, 11);
    let last = tracks.clone().last(3.0);
    assert_eq!(last.times, [7.0, 8.0, 9.0, 10.0]);
    assert_eq!(last.position, tracks.position[35..]);
    assert_eq!(last.attributes[0].values, tracks.attributes[0].values[35..]);
    assert!(
        last.joined[..5].iter().all(|joined| !joined)
            && last.joined[5..].iter().all(|joined| *joined)
    );
    assert_eq!(tracks.clone().last(100.0).times, tracks.times);
    picture::tracks(&last, &XY, &small()).unwrap();
}

#[test]
fn two_saves_are_points_without_chords() {
    let tracks = samples::gyres(30, 2);
    // Hollow dots of the starts, filled ones of the ends, and those of the legend.
    let svg = picture::tracks(&tracks, &XY, &small()).unwrap().svg();
    assert_eq!(count(&svg, "<circle"), 62);
    assert!(svg.contains("no lines between the only two saves"), "{svg:.600}");
    let lines = |svg: &str| count(svg, "stroke-opacity=\"1\"");
    let with_lines =
        picture::tracks(&tracks, &XY, &Style { dots: false, ..small() }).unwrap().svg();
    assert_eq!(count(&with_lines, "<circle"), 0);
    assert!(lines(&with_lines) > 0 && !with_lines.contains("no lines"));
    // Two saves of many are a sample, whose lines a picture has.
    let sampled = Trajectories { run_size: [30, 100], ..tracks };
    let svg = picture::tracks(&sampled, &XY, &small()).unwrap().svg();
    assert!(!svg.contains("no lines between"));
}

#[test]
fn panels_share_box_and_colors() {
    let one = samples::gyres(20, 51);
    let mut other = samples::gyres(20, 51);
    other.domain = [[-1.0, 0.0, 0.0], [2.0, 1.0, 0.0]];
    other.attributes[0].values.iter_mut().for_each(|value| *value *= 10.0);
    let panels = [("slow", &one), ("fast", &other)];
    let panels = panels.map(|(label, trajectories)| Panel { label, trajectories });
    let style = Style { size: [1200, 500], ..Style::default() };
    let made = picture::panels(&panels, 2, &XY, &style).unwrap();
    assert_eq!(made.size(), [1200, 500]);
    let svg = made.svg();
    assert!(svg.contains(">(a) slow<") && svg.contains(">(b) fast<"), "{svg:.600}");
    // One colour bar, of the fast run; both panels have the box of the second run.
    assert_eq!(count(&svg, "<image"), 1);
    assert_eq!(count(&svg, ">Speed (m/s)<"), 1);
    assert_eq!(count(&svg, ">−1.0<"), 2);
    // The yellow end of the colours is in the right panel alone.
    let rgb = made.rgb();
    let yellow = |columns: std::ops::Range<usize>| {
        let pixels = rgb.as_chunks::<3>().0.iter().enumerate();
        pixels
            .filter(|(i, p)| columns.contains(&(i % 1200)) && p[0] > 200 && p[1] > 200 && p[2] < 80)
            .count()
    };
    assert_eq!(yellow(0..550), 0);
    assert!(yellow(560..1080) > 20);
    let none = picture::panels(&[], 1, &XY, &style).unwrap_err();
    assert!(none.to_string().contains("there are none"), "{none}");
}

/// A field of x in the box of the eddies.
fn ramp() -> Raster {
    let axis = |name: &str, range| Axis { name: name.into(), unit: "m".into(), range };
    let values = (0..200).map(|i| (i % 20) as f32 / 10.0 + 0.05);
    Raster {
        axes: [axis("x", [0.05, 1.95]), axis("y", [0.05, 0.95])],
        counts: [20, 10],
        values: values.collect(),
        name: "vorticity".into(),
        unit: "1/s".into(),
        title: "vorticity at the last save".into(),
        ..Raster::default()
    }
}

#[test]
fn a_field_behind_tracks_is_pale_and_has_the_colorbar() {
    let tracks = Trajectories { background: Some(ramp()), ..samples::gyres(3, 51) };
    let style = Style { dots: false, ..small() };
    let made = picture::tracks(&tracks, &XY, &style).unwrap();
    let svg = made.svg();
    assert!(svg.contains(">Vorticity (1/s)<") && !svg.contains(">Speed"), "{svg:.900}");
    assert!(svg.contains("behind: vorticity at the last save"));
    // The middle between white and the first and the last colour of viridis.
    let mix =
        |map: ColorMap, end: f64| map.at(end).map(|part| (f64::from(part) + 255.0).div_euclid(2.0));
    for end in [0.0, 1.0] {
        let pale = mix(ColorMap::Viridis, end);
        let rgb = made.rgb();
        let close = |p: &&[u8; 3]| (0..3).all(|i| (f64::from(p[i]) - pale[i]).abs() <= 1.0);
        assert!(rgb.as_chunks::<3>().0.iter().filter(close).count() > 100, "{pale:?}");
    }
    let colored = Style { color_by: Some("speed".into()), ..small() };
    let error = picture::tracks(&tracks, &XY, &colored).unwrap_err().to_string();
    assert!(error.contains("a field behind tracks has the colours"), "{error}");
    let error = picture::tracks(&tracks, &View::SPACE, &small()).unwrap_err().to_string();
    assert!(error.contains("choose xy, xz or yz"), "{error}");
}

#[test]
fn headings_and_bars_can_be_left_out() {
    let tracks = samples::gyres(20, 51);
    let bare = Style { title: Some(String::new()), subtitle: false, colorbar: false, ..small() };
    let svg = picture::tracks(&tracks, &XY, &bare).unwrap().svg();
    assert!(
        !svg.contains("Tracks of") && !svg.contains("t = 0") && !svg.contains("<image"),
        "{svg:.900}"
    );
    let field = picture::raster(&samples::hills(60, 30), &[], &bare).unwrap().svg();
    // The field itself is an image.
    assert_eq!(count(&field, "<image"), 1);
}
