/// A page for a browser that stands alone: it loads nothing, runs nothing, and shows what was
/// recorded as text only.
extension MarkupText {
    /// Begins the page, up to its heading.
    ///
    /// The policy refuses every source, should a value ever get out of its place.
    ///
    /// - Parameter style: rules besides those that all pages have.
    package mutating func beginPage(title: String, style: String) {
        self += """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
            style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
            <meta name="referrer" content="no-referrer">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>
            """
        append(escaped: title)
        self +=
            "</title>\n<style>\n\(Self.pageStyle)\n\(style)\n</style>\n</head>\n<body>\n<main>\n"
    }

    package mutating func endPage() {
        self += "</main>\n</body>\n</html>\n"
    }

    private static let pageStyle = """
        :root { color-scheme: light dark; }
        body { font: 15px/1.45 system-ui, sans-serif; margin: 0; }
        main { max-width: 80rem; margin: 0 auto; padding: 1.5rem; }
        h1 { font-size: 1.3rem; } h3, summary { font-size: 1rem; font-weight: 600; margin: 0; }
        h1, h3, summary, td { overflow-wrap: anywhere; }
        section { border-left: 4px solid #888; margin: .6rem 0; padding: .4rem .8rem; }
        table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
        th, td { text-align: left; vertical-align: top; padding: .25rem .6rem;
        border-top: 1px solid #8884; font-weight: normal; }
        .verdict { font-weight: 600; }
        """
}
