internal import Base
internal import TLS

/// How the page looks: one column that fits any width, in the colours of the reader's choice.
enum DeviceStyle {
    static let text = """
        :root{color-scheme:light dark;--line:#8886;--soft:#8882;--good:#060}
        @media(prefers-color-scheme:dark){:root{--good:#7d7}}
        *{box-sizing:border-box}
        body{margin:0;font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
        main{max-width:44rem;margin:0 auto;padding:1rem 1rem 3rem}
        h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0}
        h2{font-size:1.2rem;margin:2rem 0 .5rem}
        ol,ul{padding-left:1.5rem}
        li{margin:.3rem 0}
        dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:.5rem 0}
        dt{opacity:.75}
        dd{margin:0}
        dd,code{font-family:ui-monospace,monospace;font-size:.9rem}
        code{background:var(--soft);padding:.1rem .25rem;border-radius:.25rem}
        details{border:1px solid var(--line);border-radius:.5rem;margin:.5rem 0;padding:0 1rem}
        summary{cursor:pointer;font-weight:600;padding:.7rem 0}
        a{display:inline-block;padding:.15rem 0}
        a:focus-visible,summary:focus-visible{outline:3px solid;outline-offset:2px}
        .state{list-style:none;padding:0}
        .done b{color:var(--good)}
        svg{display:block;width:14rem;max-width:100%;height:auto;margin:.5rem 0}
        @media(max-width:26rem){dl{grid-template-columns:1fr}dt{margin-top:.4rem}}
        """

    /// What lets this style be used, and no other (CSP Level 3 §2.3.1).
    static let hash = "sha256-" + Base64.encode(Digests.sha256([UInt8](text.utf8)))
}
