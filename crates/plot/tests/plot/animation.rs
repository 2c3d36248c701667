//! Animations, decoded and checked.

use super::requirements::skip;
use crate::samples;
use burntrace_plot::animation::{Animation, write_gif, write_gif_of_rasters, write_mp4};
use burntrace_plot::picture::{Plane, Style, View};
use burntrace_plot::{Error, Trajectories};
use std::path::Path;
use std::process::Command;

const XY: View = View::Plane(Plane::Xy);

fn small() -> Animation {
    Animation {
        style: Style { size: [241, 161], ..Style::default() },
        seconds: 2.0,
        ..Animation::default()
    }
}

/// Size of a GIF, delays of its frames in hundredths of a second, and the pixels after each frame.
fn read_gif(path: &Path) -> ([u16; 2], Vec<u16>, Vec<Vec<u8>>) {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut gif = options.read_info(std::fs::File::open(path).unwrap()).unwrap();
    let (width, height) = (gif.width(), gif.height());
    let mut screen = vec![0; 3 * usize::from(width) * usize::from(height)];
    let (mut delays, mut screens) = (Vec::new(), Vec::new());
    while let Some(frame) = gif.read_next_frame().unwrap() {
        for (i, pixel) in frame.buffer.chunks(4).enumerate() {
            let (row, column) = (i / usize::from(frame.width), i % usize::from(frame.width));
            let (x, y) = (usize::from(frame.left) + column, usize::from(frame.top) + row);
            if pixel[3] == 255 {
                screen[3 * (y * usize::from(width) + x)..][..3].copy_from_slice(&pixel[..3]);
            }
        }
        delays.push(frame.delay);
        screens.push(screen.clone());
    }
    ([width, height], delays, screens)
}

/// A particle that moves from left to right at constant speed, with saves at unequal intervals.
fn runner() -> Trajectories {
    let times = [0.0, 1.0, 1.5, 4.0, 10.0];
    let mut trajectories =
        samples::trajectories(1, &times, [[0.0; 3], [10.0, 5.0, 0.0]], |_, time| [time, 2.5, 0.0]);
    trajectories.attributes.clear();
    trajectories
}

/// The mean column of the blue pixels.
fn middle(rgb: &[u8], width: usize) -> f64 {
    let blue =
        rgb.chunks(3).enumerate().filter(|(_, p)| p[2] > 120 && p[0] < 60 && p[2] > p[0] + 90);
    let columns: Vec<_> = blue.map(|(i, _)| (i % width) as f64).collect();
    assert!(!columns.is_empty(), "no particle is visible");
    columns.iter().sum::<f64>() / columns.len() as f64
}

#[test]
fn gif_without_interpolation_shows_each_save_for_its_interval() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runner.gif");
    let held = Animation { interpolate: false, trail: 0.0, seconds: 5.0, ..small() };
    write_gif(&path, &runner(), &XY, &held).unwrap();
    let (size, delays, screens) = read_gif(&path);
    assert_eq!(size, [241, 161]);
    assert_eq!(delays, [50, 25, 125, 300, 100]);
    let columns: Vec<_> = screens.iter().map(|rgb| middle(rgb, 241)).collect();
    let speed = (columns[4] - columns[0]) / 10.0;
    assert!(speed > 15.0, "{columns:?}");
    for (column, time) in columns.iter().zip([0.0, 1.0, 1.5, 4.0, 10.0]) {
        assert!((column - (columns[0] + speed * time)).abs() < 1.0, "{columns:?} at {time}");
    }
}

#[test]
fn interpolated_particles_move_at_constant_speed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runner.gif");
    write_gif(&path, &runner(), &XY, &Animation { trail: 0.0, ..small() }).unwrap();
    let (_, delays, screens) = read_gif(&path);
    assert_eq!(delays.iter().map(|delay| u32::from(*delay)).sum::<u32>(), 200 + 100);
    assert!(delays.len() > 30, "{delays:?}");
    let columns: Vec<_> = screens.iter().map(|rgb| middle(rgb, 241)).collect();
    let speed = (columns[columns.len() - 1] - columns[0]) / 200.0;
    let mut at = 0.0;
    for (column, delay) in columns.iter().zip(&delays) {
        assert!((column - (columns[0] + speed * at)).abs() < 1.5, "{column} at {at}: {columns:?}");
        at += f64::from(*delay);
    }
}

#[test]
fn backward_runs_have_the_same_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runner.gif");
    let mut trajectories = runner();
    let animation = Animation { trail: 0.3, ..small() };
    write_gif(&path, &trajectories, &XY, &animation).unwrap();
    let forward = read_gif(&path);
    trajectories.times.iter_mut().for_each(|time| *time = 10.0 - *time);
    write_gif(&path, &trajectories, &XY, &animation).unwrap();
    let back = read_gif(&path);
    assert_eq!(forward.1, back.1);
    for (a, b) in forward.2.iter().zip(&back.2) {
        assert!((middle(a, 241) - middle(b, 241)).abs() < 0.5);
    }
}

#[test]
fn ended_particles_and_empty_trajectories_have_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.gif");
    let mut ended = samples::gyres(3, 4);
    ended.active[6..].fill(false);
    ended.joined[6..].fill(false);
    for (trajectories, frames) in [
        (Trajectories::default(), 1),
        (samples::gyres(2, 1), 1),
        (samples::gyres(0, 3), 51),
        (ended, 49),
    ] {
        for view in [XY, View::SPACE] {
            write_gif(&path, &trajectories, &view, &small()).unwrap();
            assert_eq!(read_gif(&path).1.len(), frames);
        }
    }
}

#[test]
fn fields_are_shown_at_their_times() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fields.gif");
    let fields = [samples::hills(20, 10), samples::hills(20, 10), samples::hills(20, 10)];
    let style = Style { size: [160, 160], ..Style::default() };
    write_gif_of_rasters(&path, &fields, &[0.0, 1.0, 4.0], &style, 4.0).unwrap();
    let ([width, height], delays, _) = read_gif(&path);
    assert_eq!(([width, height], delays), ([160, 160], vec![100, 300, 100]));
    let error = write_gif_of_rasters(&path, &fields, &[0.0], &style, 4.0).unwrap_err();
    assert!(error.to_string().contains("3 fields and 1 times"), "{error}");
}

#[test]
fn settings_out_of_range_are_refused() {
    let trajectories = samples::gyres(2, 3);
    for animation in [
        Animation { seconds: 0.0, ..small() },
        Animation { seconds: f64::NAN, ..small() },
        Animation { frames_per_second: 60.0, ..small() },
        Animation { trail: 1.5, ..small() },
    ] {
        let error = write_gif("/nowhere/no.gif", &trajectories, &XY, &animation).unwrap_err();
        assert!(matches!(error, Error::Option { .. }), "{error}");
    }
    let error = write_gif("/nowhere/no.gif", &trajectories, &XY, &small()).unwrap_err();
    assert!(matches!(error, Error::Write { .. }), "{error}");
}

#[test]
fn missing_ffmpeg_is_an_error() {
    let animation = Animation { ffmpeg: "no-such-program".into(), ..small() };
    let error = write_mp4("no.mp4", &runner(), &XY, &animation).unwrap_err();
    assert!(matches!(error, Error::NoFfmpeg { .. }), "{error}");
    assert!(error.to_string().contains("`no-such-program`; install ffmpeg"), "{error}");
}

#[test]
fn mp4_has_even_sides_and_the_given_duration() {
    if Command::new("ffmpeg").arg("-version").output().is_err() {
        return skip("ffmpeg", "no program `ffmpeg`");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("- runner.mp4");
    write_mp4(&path, &runner(), &XY, &small()).unwrap();
    let probe = Command::new("ffprobe")
        .args(["-v", "error", "-count_frames", "-show_entries"])
        .args(["stream=codec_name,pix_fmt,width,height,nb_read_frames", "-of", "csv=p=0"])
        .arg(&path)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(probe.stdout).unwrap().trim(), "h264,240,160,yuv420p,51");
    let error = write_mp4(folder.path().join("no/such.mp4"), &runner(), &XY, &small()).unwrap_err();
    assert!(
        matches!(&error, Error::Ffmpeg { message, .. } if message.contains("No such file")),
        "{error}"
    );
}
