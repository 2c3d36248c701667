//! MP4 files, encoded by the program ffmpeg.

use super::frame_renderer::FrameRenderer;
use super::settings::Animation;
use crate::error::{Error, Result};
use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Writes frames at times, all of the same duration.
pub(super) fn write(
    path: &Path,
    renderer: &FrameRenderer,
    times: &[f64],
    animation: &Animation,
) -> Result<()> {
    let [width, height] = renderer.size().map(even);
    let mut program = start(path, [width, height], animation)?;
    let message = program.stderr.take().map(|mut stderr| {
        std::thread::spawn(move || {
            let mut message = String::new();
            // An unreadable message is omitted.
            let _ = stderr.read_to_string(&mut message);
            message
        })
    });
    let mut input = program.stdin.take();
    for &time in times {
        let rgb = renderer.draw(time);
        let rows = rgb.chunks(3 * renderer.size()[0]).take(height);
        let frame: Vec<u8> = rows.flat_map(|row| &row[..3 * width]).copied().collect();
        // If the program ends early, its message gives the reason.
        if input.as_mut().is_none_or(|input| input.write_all(&frame).is_err()) {
            break;
        }
    }
    drop(input);
    let status = program.wait().map_err(Error::write(path))?;
    let message = message.and_then(|message| message.join().ok()).unwrap_or_default();
    if status.success() {
        return Ok(());
    }
    let message = match message.trim() {
        "" => status.to_string(),
        message => message.to_string(),
    };
    Err(Error::Ffmpeg { program: animation.ffmpeg.clone(), path: path.into(), message })
}

/// The largest even number of pixels up to `side`.
fn even(side: usize) -> usize {
    side - side % 2
}

/// Starts the program, which reads red, green and blue from its standard input.
fn start(path: &Path, [width, height]: [usize; 2], animation: &Animation) -> Result<Child> {
    // The prefix keeps the file name from being read as an option or as a URL.
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
            message: source.to_string(),
        },
    })
}
