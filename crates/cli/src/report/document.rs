//! A document of paragraphs, tables, pictures and code, written as Markdown and as HTML.

use crate::{folder::Folder, pictures::Figure};
use anyhow::Result;
use base64::{Engine, prelude::BASE64_STANDARD};
use quick_xml::escape::escape;
use serde_json::Value;
use std::path::{Path, PathBuf};

const STYLE: &str = include_str!("report.css");

/// A part of a document. Texts have code between backticks, as messages have.
pub enum Block {
    Heading(String),
    /// A paragraph: its start, which is emphasised, and the rest.
    Text(String, String),
    /// A paragraph that starts with a link: a name, a file, and the rest.
    Link([&'static str; 3]),
    /// Names of the columns, and rows.
    Table(Vec<String>, Vec<Vec<String>>),
    /// A picture: its path in the folder of the document, and its caption.
    Figure(String, String),
    Toml(String),
}

/// A title, and what follows it.
pub struct Document {
    title: String,
    blocks: Vec<Block>,
}

impl Document {
    pub fn new(title: String) -> Document {
        Document { title, blocks: Vec::new() }
    }

    pub fn add(&mut self, block: Block) {
        self.blocks.push(block);
    }

    pub fn heading(&mut self, title: &str) {
        self.add(Block::Heading(title.into()));
    }

    pub fn text(&mut self, text: impl Into<String>) {
        self.strong("", text);
    }

    /// A paragraph whose start is emphasised.
    pub fn strong(&mut self, strong: impl Into<String>, text: impl Into<String>) {
        self.add(Block::Text(strong.into(), text.into()));
    }

    /// A table. Columns of numbers are aligned at their right.
    pub fn table<Row: Into<Vec<String>>>(
        &mut self,
        names: &[&str],
        rows: impl IntoIterator<Item = Row>,
    ) {
        let names = names.iter().map(ToString::to_string).collect();
        self.add(Block::Table(names, rows.into_iter().map(Into::into).collect()));
    }

    /// A section of pictures, and of those that are missing, with the reasons.
    pub fn figures(&mut self, figures: &[Figure], missing: &[String]) {
        self.heading("Pictures");
        for Figure { path, caption } in figures {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            self.add(Block::Figure(format!("pictures/{name}"), caption.clone()));
        }
        missing.iter().for_each(|missing| self.text(format!("Not shown: {missing}.")));
    }

    /// Writes `report.md`, `report.html` and, with this content, `report.json`. Returns their paths.
    pub fn write(&self, folder: &Folder, json: &Value) -> Result<[PathBuf; 3]> {
        let markdown = self.markdown();
        folder.write("report.md", &markdown)?;
        folder.write("report.html", &self.html(&folder.root))?;
        folder.write("report.json", &format!("{json:#}\n"))?;
        Ok(["report.md", "report.html", "report.json"].map(|name| folder.path(name)))
    }

    fn markdown(&self) -> String {
        let blocks = self.blocks.iter().map(|block| format!("\n{}\n", block.markdown()));
        format!("# {}\n{}", self.title, blocks.collect::<String>())
    }

    /// Pictures are read in `folder` and embedded; those that cannot be read are links.
    fn html(&self, folder: &Path) -> String {
        let title = escape(&self.title);
        let blocks: String = self.blocks.iter().map(|block| block.html(folder) + "\n").collect();
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{blocks}</body>\n</html>\n"
        )
    }
}

/// Replaces a block in the written documents of a folder, if they have it.
pub fn replace(folder: &Folder, [before, after]: &[Block; 2]) -> Result<()> {
    for (name, [before, after]) in [
        ("report.md", [before, after].map(Block::markdown)),
        ("report.html", [before, after].map(|block| block.html(&folder.root))),
    ] {
        let text = std::fs::read_to_string(folder.path(name)).unwrap_or_default();
        if text.contains(&before) {
            folder.write(name, &text.replacen(&before, &after, 1))?;
        }
    }
    Ok(())
}

impl Block {
    fn markdown(&self) -> String {
        match self {
            Block::Heading(title) => format!("## {title}"),
            Block::Text(strong, text) if strong.is_empty() => text.clone(),
            Block::Text(strong, text) => format!("**{strong}**{text}"),
            Block::Link([name, path, text]) => format!("[{name}]({path}){text}"),
            Block::Table(names, rows) => markdown_table(names, rows),
            Block::Figure(path, caption) => format!("![{caption}]({path})\n\n*{caption}*"),
            Block::Toml(code) => format!("```toml\n{code}\n```"),
        }
    }

    fn html(&self, folder: &Path) -> String {
        match self {
            Block::Heading(title) => format!("<h2>{}</h2>", with_code(title)),
            Block::Text(strong, text) if strong.is_empty() => {
                format!("<p>{}</p>", with_code(text))
            }
            Block::Text(strong, text) => {
                format!("<p><strong>{}</strong>{}</p>", with_code(strong), with_code(text))
            }
            Block::Link([name, path, text]) => {
                format!("<p><a href=\"{path}\">{name}</a>{text}</p>")
            }
            Block::Table(names, rows) => html_table(names, rows),
            Block::Figure(path, caption) => {
                let source = match std::fs::read(folder.join(path)) {
                    Ok(bytes) => format!("data:image/png;base64,{}", BASE64_STANDARD.encode(bytes)),
                    Err(_) => escape(path).into(),
                };
                let caption = escape(caption);
                format!(
                    "<figure><img src=\"{source}\" alt=\"{caption}\"><figcaption>{caption}</figcaption></figure>"
                )
            }
            Block::Toml(code) => format!("<pre><code>{}</code></pre>", escape(code)),
        }
    }
}

fn markdown_table(names: &[String], rows: &[Vec<String>]) -> String {
    let rule = |is_right: bool| if is_right { "---:" } else { "---" }.to_string();
    let rule = right(names, rows).into_iter().map(rule).collect();
    let cell = |cell: &String| cell.replace('|', "\\|");
    let rows = rows.iter().map(|cells| cells.iter().map(cell).collect());
    let rows = [names.to_vec(), rule].into_iter().chain(rows);
    let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    rows.map(row).collect::<Vec<_>>().join("\n")
}

fn html_table(names: &[String], rows: &[Vec<String>]) -> String {
    let right = right(names, rows);
    let row = |tag: &str, cells: &[String]| {
        let cell = |(text, is_right): (&String, &bool)| {
            let class = if *is_right { " class=\"right\"" } else { "" };
            format!("<{tag}{class}>{}</{tag}>", with_code(text))
        };
        let cells: String = cells.iter().zip(&right).map(cell).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let has_names = names.iter().any(|name| !name.is_empty());
    let names = if has_names { row("th", names) } else { String::new() };
    let rows: String = rows.iter().map(|cells| row("td", cells)).collect();
    format!("<table>\n{names}{rows}</table>")
}

/// For each column, whether it has only numbers.
fn right(names: &[String], rows: &[Vec<String>]) -> Vec<bool> {
    let is_number = |cell: &String| {
        let digits = cell.trim_end_matches(" %").replace(',', "");
        ["", "–"].contains(&&*digits) || digits.parse::<f64>().is_ok()
    };
    let is_right = |column| rows.iter().filter_map(|row| row.get(column)).all(is_number);
    (0..names.len()).map(|column| !rows.is_empty() && is_right(column)).collect()
}

/// HTML of a text with code between backticks.
fn with_code(text: &str) -> String {
    let part = |(number, part)| match number % 2 {
        1 => format!("<code>{}</code>", escape(part)),
        _ => escape(part).into_owned(),
    };
    text.split('`').enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_markdown_and_html() {
        let mut document = Document::new("A <run>".into());
        document.strong("Unfinished:", " `a < b`.");
        document.add(Block::Link(["The page", "page.html", " has it."]));
        document.table(
            &["", "count"],
            [["x | y", "3,000"], ["[z](w)", "–"]].map(|row| row.map(String::from)),
        );
        let figure = Figure { path: "no.png".into(), caption: "Tracks.".into() };
        document.figures(&[figure], &["density: no particles".into()]);
        document.add(Block::Toml("[a]\nb = \"<\"".into()));
        assert_eq!(
            document.markdown(),
            "# A <run>\n\n**Unfinished:** `a < b`.\n\n[The page](page.html) has it.\n\n\
             |  | count |\n| --- | ---: |\n| x \\| y | 3,000 |\n| [z](w) | – |\n\n## Pictures\n\n\
             ![Tracks.](pictures/no.png)\n\n*Tracks.*\n\nNot shown: density: no particles.\n\n\
             ```toml\n[a]\nb = \"<\"\n```\n"
        );
        let html = document.html(Path::new("/nowhere"));
        for part in [
            "<title>A &lt;run&gt;</title>",
            "<h1>A &lt;run&gt;</h1>",
            "<p><strong>Unfinished:</strong> <code>a &lt; b</code>.</p>",
            "<p><a href=\"page.html\">The page</a> has it.</p>",
            "<tr><th></th><th class=\"right\">count</th></tr>\n<tr><td>x | y</td><td class=\"right\">3,000</td></tr>",
            "<img src=\"pictures/no.png\" alt=\"Tracks.\"><figcaption>Tracks.</figcaption>",
            "<pre><code>[a]\nb = &quot;&lt;&quot;</code></pre>",
        ] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
    }
}
