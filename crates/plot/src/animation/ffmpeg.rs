//! MP4 files, by the program ffmpeg.

use super::Animation;
use super::film::FrameRenderer;
use crate::error::{Error, Result};
use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Writes frames at times, all of them shown for as long.
pub(super) fn write(
    path: &Path,
    film: &FrameRenderer,
    times: &[f64],
    animation: &Animation,
) -> Result<()> {
    let [width, height] = film.size().map(even);
    let mut program = start(path, [width, height], animation)?;
    let said = program.stderr.take().map(|mut stderr| {
        std::thread::spawn(move || {
            let mut said = String::new();
            // What cannot be read is not said.
            let _ = stderr.read_to_string(&mut said);
            said
        })
    });
    let mut input = program.stdin.take();
    for &time in times {
        let rgb = film.draw(time);
        let rows = rgb.chunks(3 * film.size()[0]).take(height);
        let frame: Vec<u8> = rows.flat_map(|row| &row[..3 * width]).copied().collect();
        // A program that has ended early says why.
        if input.as_mut().is_none_or(|input| input.write_all(&frame).is_err()) {
            break;
        }
    }
    drop(input);
    let ended = program.wait().map_err(Error::write(path))?;
    let said = said.and_then(|said| said.join().ok()).unwrap_or_default();
    if ended.success() {
        return Ok(());
    }
    let said = if said.trim().is_empty() { ended.to_string() } else { said.trim().to_string() };
    Err(Error::Ffmpeg { program: animation.ffmpeg.clone(), path: path.into(), said })
}

/// The side without its last pixel if it is odd.
fn even(side: usize) -> usize {
    side - side % 2
}

/// Starts the program, which reads red, green and blue from its standard input.
fn start(path: &Path, [width, height]: [usize; 2], animation: &Animation) -> Result<Child> {
    // So that the name of the file is not taken for an option or for an address.
    let mut file = OsString::from("file:");
    file.push(path);
    let started = Command::new(&animation.ffmpeg)
        .args(["-loglevel", "error", "-y", "-f", "rawvideo", "-pixel_format", "rgb24"])
        .args(["-video_size", &format!("{width}x{height}")])
        .args(["-framerate", &animation.frames_per_second.to_string(), "-i", "pipe:0"])
        .args(["-an", "-c:v", "libx264", "-crf", "18", "-vf", "scale=out_color_matrix=bt709"])
        .args(["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"])
        .args(["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4"])
        .arg(file)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    started.map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::NoFfmpeg { program: animation.ffmpeg.clone() },
        _ => Error::Ffmpeg {
            program: animation.ffmpeg.clone(),
            path: path.into(),
            said: source.to_string(),
        },
    })
}
