//! PNG files.

use std::io;

/// Encodes red, green and blue, row by row from the top, as a PNG file.
pub(crate) fn encode(size: [u32; 2], rgb: &[u8]) -> io::Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, size[0], size[1]);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgb)?;
    writer.finish()?;
    Ok(file)
}
