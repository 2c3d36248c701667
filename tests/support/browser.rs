//! Headless Chromium, controlled over WebDriver (<https://www.w3.org/TR/webdriver2/>) by
//! `chromedriver`.
//!
//! Included by path into the tests of several crates.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)] // Each crate uses only some functions.

use super::requirements::skip;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Without network access, with WebGL in software.
const FLAGS: [&str; 13] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--hide-scrollbars",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage",
];

/// The key of an element identifier in responses.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser with one window, closed on drop.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

/// A screenshot.
pub struct Shot {
    pub width: usize,
    pub height: usize,
    /// Red, green and blue of each pixel.
    pub pixels: Vec<[u8; 3]>,
}

/// A rectangle of the page, in CSS pixels.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// Starts `chromedriver`, if it is installed.
fn driver() -> Option<Child> {
    let mut command = Command::new("chromedriver");
    let started = command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let missing = |error| {
        let hint = "install the packages `chromium` and `chromium-driver` (Debian)";
        skip("browser", &format!("cannot start `chromedriver`: {error}; {hint}"));
    };
    started.map_err(missing).ok()
}

impl Browser {
    /// A window of 1280 x 800 pixels; `None` if there is no browser and none is required.
    pub fn new() -> Option<Browser> {
        Browser::with(&[])
    }

    /// A browser with additional flags.
    pub fn with(more: &[&str]) -> Option<Browser> {
        let mut driver = driver()?;
        let port = port(&mut driver);
        let profile = tempfile::tempdir().unwrap();
        let mut browser = Browser { driver, port, session: String::new(), _profile: profile };
        let mut flags: Vec<String> =
            FLAGS.iter().chain(more).map(|flag| flag.to_string()).collect();
        flags.push(format!("--user-data-dir={}", browser._profile.path().display()));
        let options = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": flags},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}});
        let answer = browser.request("POST", "/session", &options);
        browser.session = answer["sessionId"].as_str().unwrap().to_string();
        browser.call("POST", "/url", &json!({"url": "about:blank"}));
        browser.requests();
        browser.size(1280, 800);
        Some(browser)
    }

    /// Sets the size of the window, at one device pixel per CSS pixel.
    pub fn size(&self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", size);
    }

    /// Sets the preferred colour scheme: `light` or `dark`.
    pub fn prefer(&self, theme: &str) {
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
        self.devtools("Emulation.setEmulatedMedia", media);
    }

    /// Sends a command of the DevTools protocol.
    pub fn devtools(&self, command: &str, given: Value) -> Value {
        self.call("POST", "/goog/cdp/execute", &json!({"cmd": command, "params": given}))
    }

    /// Opens a file.
    pub fn open(&self, path: &Path) {
        self.call("POST", "/url", &json!({"url": format!("file://{}", path.display())}));
        self.settle();
    }

    /// Runs a script in the page and gives its return value.
    pub fn script(&self, script: &str) -> Value {
        self.call("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Runs a script that calls its last argument with the result.
    pub fn script_async(&self, script: &str) -> Value {
        self.call("POST", "/execute/async", &json!({"script": script, "args": []}))
    }

    /// Waits until the page is not busy and has drawn all pending frames.
    pub fn settle(&self) {
        self.script_async(
            "const done = arguments[0]; \
             const draw = () => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))); \
             const wait = () => (document.querySelector('[aria-busy=true]') ? setTimeout(wait, 10) : draw()); \
             wait()",
        );
    }

    /// The value of an element, or its text.
    pub fn text(&self, selector: &str) -> String {
        let script = format!(
            "const e = document.querySelector({}); return e.value ?? e.innerText",
            json!(selector)
        );
        self.script(&script).as_str().unwrap().to_string()
    }

    /// Clicks an element with the mouse.
    pub fn click(&self, selector: &str) {
        let element = self.find(selector);
        self.call("POST", &format!("/element/{element}/click"), &json!({}));
        self.settle();
    }

    /// Types a key into the focused element; [`keys`] has special keys.
    pub fn press(&self, key: &str) {
        let actions = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        self.actions(json!([{"type": "key", "id": "keys", "actions": actions}]));
    }

    /// Types a key while Shift is held.
    pub fn press_with_shift(&self, key: &str) {
        let actions = json!([
            {"type": "keyDown", "value": keys::SHIFT}, {"type": "keyDown", "value": key},
            {"type": "keyUp", "value": key}, {"type": "keyUp", "value": keys::SHIFT},
        ]);
        self.actions(json!([{"type": "key", "id": "keys", "actions": actions}]));
    }

    /// Replaces the content of a field, and moves the focus to the next one.
    pub fn enter(&self, selector: &str, text: &str) {
        self.script(&format!("document.querySelector({}).select()", json!(selector)));
        for key in text.chars() {
            self.press(&key.to_string());
        }
        self.press(keys::TAB);
    }

    /// Chooses an option of a menu by its text.
    pub fn choose(&self, selector: &str, text: &str) {
        let found = self.script(&format!(
            "const menu = document.querySelector({}); \
             const option = [...menu.options].find((option) => option.text === {}); \
             if (!option) return [...menu.options].map((option) => option.text).join(', '); \
             menu.value = option.value; menu.dispatchEvent(new Event('change', {{bubbles: true}})); \
             return null",
            json!(selector),
            json!(text)
        ));
        assert_eq!(found, Value::Null, "no `{text}` in {selector}");
        self.settle();
    }

    /// Sets a slider.
    pub fn slide(&self, selector: &str, value: f64) {
        self.script(&format!(
            "const slider = document.querySelector({}); slider.value = {value}; \
             slider.dispatchEvent(new Event('input', {{bubbles: true}}))",
            json!(selector)
        ));
        self.settle();
    }

    /// Drags the mouse between two points, in CSS pixels.
    pub fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        self.point("mouse", from, to);
    }

    /// Drags the mouse between two points while a key is held.
    pub fn drag_with(&self, key: &str, from: (f64, f64), to: (f64, f64)) {
        let press = |kind: &str| json!([{"type": "key", "id": "held", "actions": [{"type": kind, "value": key}]}]);
        self.call("POST", "/actions", &json!({"actions": press("keyDown")}));
        self.drag(from, to);
        self.actions(press("keyUp"));
    }

    /// Moves a finger between two points, in CSS pixels.
    pub fn swipe(&self, from: (f64, f64), to: (f64, f64)) {
        self.point("touch", from, to);
    }

    fn point(&self, kind: &str, from: (f64, f64), to: (f64, f64)) {
        let moves = |(x, y): (f64, f64)| json!({"type": "pointerMove", "duration": 50, "x": x.round(), "y": y.round()});
        let parameters = json!({"pointerType": kind});
        self.actions(json!([{"type": "pointer", "id": kind, "parameters": parameters, "actions": [
            moves(from),
            {"type": "pointerDown", "button": 0},
            moves(to),
            {"type": "pointerUp", "button": 0},
        ]}]));
    }

    /// Moves two fingers apart along x, from a distance to another, around a point.
    pub fn pinch(&self, (x, y): (f64, f64), from: f64, to: f64) {
        let finger = |id: &str, side: f64| {
            let moves = |far: f64| json!({"type": "pointerMove", "duration": 50, "x": (x + side * far) as i64, "y": y as i64});
            json!({"type": "pointer", "id": id, "parameters": {"pointerType": "touch"}, "actions": [
                moves(from),
                {"type": "pointerDown", "button": 0},
                moves(to),
                {"type": "pointerUp", "button": 0},
            ]})
        };
        self.actions(json!([finger("thumb", -1.0), finger("index", 1.0)]));
    }

    /// Turns the mouse wheel at a point.
    pub fn wheel(&self, (x, y): (f64, f64), by: i32) {
        self.actions(json!([{"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "x": x as i64, "y": y as i64, "deltaX": 0, "deltaY": by, "duration": 0},
        ]}]));
    }

    /// The bounding box of an element.
    pub fn area(&self, selector: &str) -> Area {
        let answer = self.script(&format!(
            "const r = document.querySelector({}).getBoundingClientRect(); \
             return [r.x, r.y, r.width, r.height]",
            json!(selector)
        ));
        let [x, y, width, height] = [0, 1, 2, 3].map(|k| answer[k].as_f64().unwrap());
        Area { x, y, width, height }
    }

    /// A screenshot of the window as PNG.
    pub fn png(&self) -> Vec<u8> {
        self.settle();
        let text = self.call("GET", "/screenshot", &Value::Null);
        decode_base64(text.as_str().unwrap())
    }

    /// A screenshot of an element.
    pub fn shot(&self, selector: &str) -> Shot {
        let area = self.area(selector);
        let window = decode_png(&self.png());
        let [x, y] = [area.x, area.y].map(|side| side.round() as usize);
        let [width, height] = [area.width, area.height].map(|side| side.round() as usize);
        let rows = window.pixels.chunks(window.width).skip(y).take(height);
        let pixels = rows.flat_map(|row| row[x..x + width].to_vec()).collect();
        Shot { width, height, pixels }
    }

    /// Errors and warnings of the console since the last call.
    pub fn console_messages(&self) -> Vec<String> {
        let log = self.call("POST", "/se/log", &json!({"type": "browser"}));
        let entries = log.as_array().unwrap().iter();
        let bad = entries.filter(|entry| entry["level"] == "SEVERE" || entry["level"] == "WARNING");
        bad.map(|entry| entry["message"].to_string()).collect()
    }

    /// The URLs requested since the last call.
    pub fn requests(&self) -> Vec<String> {
        let log = self.call("POST", "/se/log", &json!({"type": "performance"}));
        let messages = log.as_array().unwrap().iter().map(|entry| {
            serde_json::from_str::<Value>(entry["message"].as_str().unwrap()).unwrap()
        });
        let sent = messages.filter(|m| m["message"]["method"] == "Network.requestWillBeSent");
        sent.map(|m| m["message"]["params"]["request"]["url"].as_str().unwrap().to_string())
            .collect()
    }

    fn find(&self, selector: &str) -> String {
        let answer =
            self.call("POST", "/element", &json!({"using": "css selector", "value": selector}));
        answer[ELEMENT].as_str().unwrap().to_string()
    }

    fn actions(&self, actions: Value) {
        self.call("POST", "/actions", &json!({"actions": actions}));
        self.settle();
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        self.request(method, &format!("/session/{}{path}", self.session), body)
    }

    /// The value of the response; panics if it contains an error.
    fn request(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut answer = self.send(method, path, body).unwrap();
        assert!(answer["value"]["error"].is_null(), "{method} {path} {body}: {}", answer["value"]);
        answer["value"].take()
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> std::io::Result<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(120)))?;
        let body = if body.is_null() { String::new() } else { body.to_string() };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        )?;
        answer_of(stream)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // This also runs after a failed test; otherwise the browser would outlive its driver. Errors
        // are ignored, so that they do not hide the cause of the failure.
        if !self.session.is_empty() {
            let _ = self.send("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Special keys.
pub mod keys {
    pub const TAB: &str = "\u{e004}";
    pub const SHIFT: &str = "\u{e008}";
    pub const CONTROL: &str = "\u{e009}";
    pub const ESCAPE: &str = "\u{e00c}";
    pub const LEFT: &str = "\u{e012}";
    pub const RIGHT: &str = "\u{e014}";
    pub const HOME: &str = "\u{e011}";
    pub const END: &str = "\u{e010}";
}

/// The port of the driver, from its output.
fn port(driver: &mut Child) -> u16 {
    let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let line = lines
        .map_while(Result::ok)
        .find(|line| line.contains("started successfully on port"))
        .expect("`chromedriver` did not start");
    line.trim_end_matches('.').rsplit(' ').next().unwrap().parse().unwrap()
}

/// Reads the body of a response, whose length is in its header.
fn answer_of(stream: TcpStream) -> std::io::Result<Value> {
    let mut stream = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().map_err(std::io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

fn decode_base64(text: &str) -> Vec<u8> {
    let digit = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for letter in text.bytes().filter(|&letter| letter != b'=') {
        bits = bits << 6 | u32::from(digit(letter));
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    bytes
}

fn decode_png(bytes: &[u8]) -> Shot {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut data).unwrap();
    let samples = info.color_type.samples();
    let pixels = data[..info.buffer_size()].chunks_exact(samples);
    let pixels = pixels.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    Shot { width: info.width as usize, height: info.height as usize, pixels }
}

impl Shot {
    /// The number of different colours.
    pub fn colors(&self) -> usize {
        let mut colors = self.pixels.clone();
        colors.sort_unstable();
        colors.dedup();
        colors.len()
    }

    /// The number of pixels that differ clearly from those of a screenshot of the same size.
    pub fn differs(&self, other: &Shot) -> usize {
        assert_eq!((self.width, self.height), (other.width, other.height));
        let pairs = self.pixels.iter().zip(&other.pixels);
        pairs.filter(|(a, b)| color_distance(**a, **b) > 24).count()
    }

    /// The number of pixels with approximately this colour.
    pub fn count(&self, color: [u8; 3]) -> usize {
        self.pixels.iter().filter(|&&pixel| color_distance(pixel, color) <= 24).count()
    }

    /// The mean position of the pixels with approximately this colour.
    pub fn middle_of(&self, color: [u8; 3]) -> (f64, f64) {
        let found: Vec<usize> = (0..self.pixels.len())
            .filter(|&at| color_distance(self.pixels[at], color) <= 24)
            .collect();
        assert!(!found.is_empty(), "no pixel of the colour {color:?}");
        let mean = |coordinate: &dyn Fn(usize) -> usize| {
            found.iter().map(|&at| coordinate(at) as f64 + 0.5).sum::<f64>() / found.len() as f64
        };
        (mean(&|at| at % self.width), mean(&|at| at / self.width))
    }
}

/// The maximum difference of two colours over the channels.
pub fn color_distance(a: [u8; 3], b: [u8; 3]) -> u8 {
    [0, 1, 2].map(|k| a[k].abs_diff(b[k])).into_iter().max().unwrap()
}
