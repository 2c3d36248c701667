//! PNG files.

use std::io;

/// Encodes red, green and blue, row by row from the top, as a PNG file. It states the pixels per inch, if they are given.
pub(crate) fn encode(size: [u32; 2], rgb: &[u8], dpi: Option<f64>) -> io::Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, size[0], size[1]);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let per_metre = dpi.map(|dpi| (dpi / 0.0254).round() as u32);
    encoder.set_pixel_dims(per_metre.map(|n| png::PixelDimensions {
        xppu: n,
        yppu: n,
        unit: png::Unit::Meter,
    }));
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgb)?;
    writer.finish()?;
    Ok(file)
}
