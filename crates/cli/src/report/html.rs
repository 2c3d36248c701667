//! The report as one HTML file, from its Markdown: headings, paragraphs, pictures, tables and code.

use burntrace_plot::page;
use std::fmt::Write;
use std::path::Path;

const STYLE: &str = "
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
table { border-collapse: collapse; font-size: 0.95rem; font-variant-numeric: tabular-nums; display: block; overflow-x: auto; }
td, th { padding: 0.3rem 0.8rem; border-bottom: 1px solid light-dark(#dde1e6, #2b323b); text-align: left; }
td.right, th.right { text-align: right; }
figure { margin: 1.5rem 0; } img { width: 100%; height: auto; border-radius: 4px; }
figcaption, em { color: light-dark(#5b6673, #9aa5b1); font-style: normal; font-size: 0.95rem; }
pre { overflow-x: auto; padding: 1rem; border-radius: 6px; background: light-dark(#f6f7f9, #181c22); font-size: 0.85rem; }
";

/// The HTML of a report. Pictures are read in `folder` and embedded; those that cannot be read are links.
pub fn of(markdown: &str, title: &str, folder: &Path) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n",
        escaped(title)
    );
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        // Writing to a string does not fail.
        if let Some(heading) = line.strip_prefix("## ") {
            writeln!(html, "<h2>{}</h2>", inline(heading)).ok();
        } else if let Some(heading) = line.strip_prefix("# ") {
            writeln!(html, "<h1>{}</h1>", inline(heading)).ok();
        } else if line.starts_with("```") {
            let code: Vec<&str> =
                lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            writeln!(html, "<pre><code>{}</code></pre>", escaped(&code.join("\n"))).ok();
        } else if line.starts_with("| ") || line.starts_with("|  |") {
            let mut rows = vec![line];
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                rows.push(row);
            }
            html += &table(&rows);
        } else if let Some((caption, path)) = picture(line) {
            html += &figure(caption, path, folder);
        } else if is_caption(line) || line.is_empty() {
            // Captions are those of the figures.
        } else {
            writeln!(html, "<p>{}</p>", inline(line)).ok();
        }
    }
    html + "</body>\n</html>\n"
}

/// The caption and the path of a picture.
fn picture(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("![")?.strip_suffix(')')?.split_once("](")
}

fn is_caption(line: &str) -> bool {
    line.len() > 2 && line.starts_with('*') && !line.starts_with("**") && line.ends_with('*')
}

fn figure(caption: &str, path: &str, folder: &Path) -> String {
    let source = match std::fs::read(folder.join(path)) {
        Ok(bytes) => format!("data:image/png;base64,{}", page::base64(&bytes)),
        Err(_) => escaped(path),
    };
    let caption = escaped(caption);
    format!(
        "<figure><img src=\"{source}\" alt=\"{caption}\"><figcaption>{caption}</figcaption></figure>\n"
    )
}

/// A table: a row of names, a row of alignments, and rows of values.
fn table(rows: &[&str]) -> String {
    let cells = |row: &str| -> Vec<String> {
        let row = row.trim_matches('|').replace("\\|", "\u{0}");
        row.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
    };
    let right: Vec<bool> = rows
        .get(1)
        .map_or(Vec::new(), |row| cells(row).iter().map(|cell| cell.ends_with(':')).collect());
    let mut html = String::from("<table>\n");
    for (number, row) in rows.iter().enumerate().filter(|(number, _)| *number != 1) {
        let tag = if number == 0 { "th" } else { "td" };
        let cells = cells(row);
        if number == 0 && cells.iter().all(String::is_empty) {
            continue;
        }
        let cell = |(column, text): (usize, &String)| {
            let class = if right.get(column) == Some(&true) { " class=\"right\"" } else { "" };
            format!("<{tag}{class}>{}</{tag}>", inline(text))
        };
        let row: String = cells.iter().enumerate().map(cell).collect();
        html += &format!("<tr>{row}</tr>\n");
    }
    html + "</table>\n"
}

/// Text with code between backticks, bold between `**`, and links.
fn inline(text: &str) -> String {
    let mut html = String::new();
    for (number, part) in text.split('`').enumerate() {
        if number % 2 == 1 {
            html += &format!("<code>{}</code>", escaped(part));
            continue;
        }
        for (number, part) in part.split("**").enumerate() {
            let part = links(part);
            html += &if number % 2 == 1 { format!("<strong>{part}</strong>") } else { part };
        }
    }
    html
}

fn links(text: &str) -> String {
    let link = || {
        let (before, rest) = text.split_once('[')?;
        let (name, rest) = rest.split_once("](")?;
        let (path, after) = rest.split_once(')')?;
        let [before, name, path] = [before, name, path].map(escaped);
        Some(format!("{before}<a href=\"{path}\">{name}</a>{}", links(after)))
    };
    link().unwrap_or_else(|| escaped(text))
}

/// Text escaped for HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_of_reports_becomes_html() {
        let markdown = "# A <run>\n\nSee [the page](page.html), **now**: `a < b`.\n\n\
                        | | count |\n| --- | ---: |\n| x \\| y | 3 |\n\n![Tracks.](no.png)\n\n*Tracks.*\n\n\
                        ```toml\n[a]\nb = \"<\"\n```\n";
        let html = of(markdown, "A <run>", Path::new("/nowhere"));
        for part in [
            "<title>A &lt;run&gt;</title>",
            "<h1>A &lt;run&gt;</h1>",
            "<p>See <a href=\"page.html\">the page</a>, <strong>now</strong>: <code>a &lt; b</code>.</p>",
            "<tr><th></th><th class=\"right\">count</th></tr>\n<tr><td>x | y</td><td class=\"right\">3</td></tr>",
            "<img src=\"no.png\" alt=\"Tracks.\"><figcaption>Tracks.</figcaption>",
            "<pre><code>[a]\nb = &quot;&lt;&quot;</code></pre>",
        ] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
        assert_eq!(html.matches("Tracks.").count(), 2, "{html}");
    }
}
