internal import Base
internal import Proxy

/// The page itself, in HTML.
struct DevicePageText {
    private let certificate: DeviceCertificate
    private let view: DeviceView

    init(_ certificate: DeviceCertificate, _ view: DeviceView) {
        self.certificate = certificate
        self.view = view
    }

    var markup: [UInt8] {
        var page = MarkupText()
        page += """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Set up a device for Sallyport</title>
            <link rel="icon" href="data:,">
            <style>\(DeviceStyle.text)</style>
            </head>
            <body>
            <main>
            <h1>Set up a device for Sallyport</h1>
            <p>This proxy records what a device sends through it, in clear once the device trusts its\
             certificate. Set up devices only that are yours to look into, and undo it afterwards.

            """
        page += state + elsewhere + proxy + steps + fingerprints
        page += "</main>\n</body>\n</html>\n"
        return page.bytes
    }

    // MARK: How far the reader is

    private var state: String {
        let name = ProxyWiring.ownHost
        return """
            <h2>How far this device is</h2>
            <ul class="state">
            \(item(true, "it reaches the proxy"))
            \(item(view.usesProxy, "it uses the proxy", "http://\(name)/"))
            \(item(view.isSecure, "it trusts the certificate", "https://\(name)/"))
            </ul>

            """
    }

    /// - Parameter proof: the page that opens, without a warning, once it is done.
    private func item(_ isDone: Bool, _ text: String, _ proof: String = "") -> String {
        isDone
            ? "<li class=\"done\"><b>Done:</b> \(text)."
            : "<li><b>Try:</b> \(link(proof)) opens without a warning once \(text)."
    }

    /// For readers at the machine that the proxy runs on.
    private var elsewhere: String {
        guard let first = view.elsewhere.first else {
            guard view.place.isLoopback else { return "" }
            return """
                <h2>Another device</h2>
                <p>The proxy listens on this machine alone. Start it with\
                 <code>--listen 0.0.0.0:\(view.place.port)</code> for devices in your network, and with\
                 <code>--proxy-auth FILE</code> so that nobody else uses it.

                """
        }
        let links = view.elsewhere.map { "<li>\(link("http://\($0)/"))" }.joined(separator: "\n")
        let url = "http://\(first)/"
        let picture = QRCode([UInt8](url.utf8))?.picture("QR code of \(url)") ?? ""
        return """
            <h2>Another device</h2>
            <p>Open this page there:
            <ul>
            \(links)
            </ul>
            \(picture)

            """
    }

    // MARK: What to do

    private var proxy: String {
        let login =
            view.needsPassword
            ? "<p>The proxy asks for a user and a password, which whoever runs it can tell you.\n"
            : ""
        return """
            <h2>1. The proxy</h2>
            <dl>
            <dt>Server<dd>\(escaped(view.place.host))
            <dt>Port<dd>\(view.place.port)
            <dt>Or automatic, by URL<dd>\(link("http://\(view.place)/proxy.pac"))
            </dl>
            \(login)
            """
    }

    private var steps: String {
        let rows = DeviceSteps.all(view.place, certificate).map { device in
            let isOpen = device.agents.contains(where: view.agent.contains) ? " open" : ""
            let steps = device.steps.map { "<li>\($0)" }.joined(separator: "\n")
            return """
                <details\(isOpen)>
                <summary>\(device.name)</summary>
                <ol>
                \(steps)
                </ol>
                <p>To undo it: \(device.undo)
                </details>
                """
        }
        return """
            <h2>2. The certificate, by device</h2>
            \(rows.joined(separator: "\n"))

            """
    }

    private var fingerprints: String {
        """
        <h2>3. Is it the right certificate?</h2>
        <p>What came over a network may have been changed on the way. Compare what the device shows\
         of the certificate with what <code>sallyport ca show</code> prints on the machine that the\
         proxy runs on, not with this page alone.
        <dl>
        <dt>Name<dd>\(escaped(certificate.subject))
        <dt>Valid until<dd>\(certificate.notAfter.rfc3339)
        <dt>SHA-256<dd>\(certificate.sha256.pairs)
        <dt>SHA-1<dd>\(certificate.sha1.pairs)
        </dl>

        """
    }

    private func link(_ url: String) -> String { "<a href=\"\(escaped(url))\">\(escaped(url))</a>" }
    private func escaped(_ text: String) -> String { MarkupText.escaped(text) }
}

extension HostPort {
    fileprivate var isLoopback: Bool {
        LoopbackHost.contains(host)
    }
}

extension [UInt8] {
    /// `AB:CD:…`, as devices show digests.
    fileprivate var pairs: String { map { [$0].hex.uppercased() }.joined(separator: ":") }
}
