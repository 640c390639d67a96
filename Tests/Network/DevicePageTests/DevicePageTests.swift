import Base
import Glibc
import HTTPCodecs
import HTTPModel
import Proxy
import Sockets
import TLS
import Testing

@testable import DevicePage

struct DevicePageTests {
    /// Made once a run; its name would act in a page.
    private static let certificate = makeCertificate()

    private static func makeCertificate() -> Certificate {
        var template = Array("/tmp/sallyport-devicepage.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { preconditionFailure("no temporary folder") }
        let folder = template.dropLast().map { UInt8(bitPattern: $0) }.text
        defer {
            for name in ["ca/ca.key", "ca/ca.pem", "ca", ""] { Files.remove("\(folder)/\(name)") }
        }
        do throws(Failure) {
            return try CertificateAuthority.open(
                folder: "\(folder)/ca", label: "<b>\"CA\"</b> & 'Co'"
            ).certificate
        } catch {
            preconditionFailure("no certificate: \(error)")
        }
    }

    /// Asks a page of a proxy on all addresses.
    private func response(
        to line: String = "GET /", host: String = "192.168.1.5:8080", _ fields: String = "",
        at address: String = "192.168.1.5", isSecure: Bool = false, needsPassword: Bool = false
    ) throws -> OwnResponse {
        let others = ["192.168.1.5", "10.8.0.3", "2001:db8::7"]
        let page = DevicePage(Self.certificate, needsPassword: needsPassword) { listener in
            others.compactMap { SocketAddress(literal: $0, port: listener.port) }
        }
        let text = "\(line) HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n"
        let head = try #require(try RequestReader.read([UInt8](text.utf8).span)?.head)
        return page.response(
            to: OwnRequest(
                head: head, isSecure: isSecure, target: Array(head.target),
                address: try #require(SocketAddress(literal: address, port: 8080)),
                listener: try #require(SocketAddress(literal: "0.0.0.0", port: 8080))))
    }

    // MARK: What there is

    static let files: [(path: String, mediaType: String, disposition: String?)] = [
        ("/", "text/html; charset=utf-8", nil),
        ("/?from=elsewhere", "text/html; charset=utf-8", nil),
        ("/sallyport.pem", "application/x-pem-file", "attachment; filename=\"sallyport.pem\""),
        ("/sallyport.cer", "application/pkix-cert", "attachment; filename=\"sallyport.cer\""),
        ("/sallyport.crt", "application/x-x509-ca-cert", nil),
        ("/sallyport.mobileconfig", "application/x-apple-aspen-config", nil),
        (
            "/sallyport.jks", "application/x-java-keystore",
            "attachment; filename=\"sallyport.jks\""
        ),
        ("/proxy.pac", "application/x-ns-proxy-autoconfig", nil),
    ]

    @Test(arguments: files)
    func isThere(_ row: (path: String, mediaType: String, disposition: String?)) throws {
        let answer = try response(to: "GET \(row.path)")
        #expect(answer.status == 200)
        #expect(answer.field("content-type") == row.mediaType)
        #expect(answer.field("content-disposition") == row.disposition)
        #expect(!answer.content.isEmpty && !answer.content.text.contains("PRIVATE KEY"))
    }

    static let refused: [(line: String, status: Int)] = [
        ("GET /index.html", 404), ("GET /ca.key", 404), ("GET /sallyport.PEM", 404),
        ("GET //sallyport.pem", 404), ("GET /../ca.key", 404), ("GET /%2e%2e/ca.key", 404),
        ("POST /", 405), ("PUT /sallyport.pem", 405), ("DELETE /", 405), ("OPTIONS /", 405),
    ]

    @Test(arguments: refused)
    func isNotThere(_ row: (line: String, status: Int)) throws {
        #expect(try response(to: row.line).status == row.status)
    }

    @Test(arguments: files.map(\.path) + ["/nothing"])
    func isOfNoUseToOtherPages(_ path: String) throws {
        let answer = try response(to: "GET \(path)")
        #expect(answer.field("x-content-type-options") == "nosniff")
        #expect(answer.field("x-frame-options") == "DENY")
        #expect(answer.field("cross-origin-resource-policy") == "same-origin")
        #expect(answer.field("cache-control") == "no-store")
        #expect(answer.field("content-security-policy")?.hasPrefix("default-src 'none';") == true)
        #expect(!answer.fields.contains { $0.name.hasPrefix("access-control") })
        for site in ["cross-site", "same-site", "anything"] {
            let asked = try response(to: "GET \(path)", "Sec-Fetch-Site: \(site)\r\n")
            #expect(asked.status == (path.hasPrefix("/?") || path == "/" ? 200 : 403), "\(site)")
        }
        for site in ["none", "same-origin"] {
            #expect(
                try response(to: "GET \(path)", "Sec-Fetch-Site: \(site)\r\n").status
                    == answer.status)
        }
    }

    // MARK: The page

    @Test func pageLoadsNothing() throws {
        let answer = try response(host: "127.0.0.1:8080", at: "127.0.0.1")
        let page = answer.content.text
        for word in ["<script", "javascript:", " on", "@import", "url(", "<iframe", "<form"] {
            #expect(!page.contains("\(word)=") && (word == " on" || !page.contains(word)))
        }
        let links = page.split(separator: "href=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        let known = Set(Self.files.map(\.path))
        for link in links where link != "data:," {
            let isOwn =
                known.contains(String(link)) || link.hasPrefix("http://192.168.1.5:8080/")
                || link.hasPrefix("http://10.8.0.3:8080/")
                || link.hasPrefix("http://[2001:db8::7]:8080/")
                || link == "http://sallyport.test/" || link == "https://sallyport.test/"
            #expect(isOwn, "\(link)")
        }
        // The only style is the one that the policy names.
        let style = try #require(
            page.split(separator: "<style>").last?.split(separator: "</style>").first)
        let digest = Base64.encode(Digests.sha256([UInt8](style.utf8)))
        let policy = try #require(answer.field("content-security-policy"))
        #expect(policy.contains("style-src 'sha256-\(digest)'"))
        #expect(!page.contains("style="))
    }

    @Test func nameOfTheCertificateIsText() throws {
        let page = try response().content.text
        #expect(page.contains("<dd>CN=\\&lt;b\\&gt;"))
        #expect(!page.contains("<b>\""))
        let profile = try response(to: "GET /sallyport.mobileconfig").content.text
        #expect(profile.contains("<string>CN=\\&lt;b\\&gt;") && !profile.contains("<b>"))
    }

    @Test func fingerprintsAreThoseOfTheFile() throws {
        let der = try response(to: "GET /sallyport.crt").content
        #expect(der == Self.certificate.der)
        #expect(try response(to: "GET /sallyport.cer").content == der)
        let page = try response().content.text
        for digest in [Digests.sha256(der), Digests.sha1(der)] {
            #expect(
                page.contains(digest.map { [$0].hex.uppercased() }.joined(separator: ":")))
        }
    }

    /// Who asks, and which addresses of the machine the page tells.
    static let readers: [(host: String, address: String, told: [String])] = [
        ("192.168.1.5:8080", "192.168.1.5", ["192.168.1.5"]),
        ("10.8.0.3:8080", "10.8.0.3", ["10.8.0.3"]),
        ("[2001:db8::7]:8080", "2001:db8::7", ["2001:db8::7"]),
        ("sallyport.test", "192.168.1.5", ["192.168.1.5"]),
        ("mine.local:8080", "192.168.1.5", ["192.168.1.5"]),
        ("192.168.1.5:8080", "::ffff:192.168.1.5", ["192.168.1.5"]),
        ("127.0.0.1:8080", "127.0.0.1", ["192.168.1.5", "10.8.0.3", "2001:db8::7"]),
        ("localhost:8080", "::1", ["192.168.1.5", "10.8.0.3", "2001:db8::7"]),
        ("sallyport.test", "127.0.0.1", ["192.168.1.5", "10.8.0.3", "2001:db8::7"]),
    ]

    @Test(arguments: readers)
    func tellsOthersOneAddress(_ row: (host: String, address: String, told: [String])) throws {
        let page = try response(host: row.host, at: row.address).content.text
        for other in ["192.168.1.5", "10.8.0.3", "2001:db8::7"] {
            #expect(page.contains(other) == row.told.contains(other), "\(other)")
        }
        #expect(page.contains("<svg") == (row.told.count > 1))
        let first = try #require(row.told.first)
        let place = first.contains(":") ? "[\(first)]:8080" : "\(first):8080"
        #expect(
            try response(to: "GET /proxy.pac", host: row.host, at: row.address).content.text
                == "function FindProxyForURL(url, host) { return \"PROXY \(place)\"; }\n")
    }

    /// Behind a port of a container the machine has another address than the one that is bound.
    @Test func addressThatTheReaderUsedCounts() throws {
        let page = try response(host: "203.0.113.9:18080", at: "172.17.0.2").content.text
        #expect(page.contains("<dt>Server<dd>203.0.113.9\n<dt>Port<dd>18080\n"))
        #expect(!page.contains("172.17.0.2"))
    }

    @Test func saysHowFarTheDeviceIs() throws {
        func done(_ host: String, isSecure: Bool) throws -> Int {
            try response(host: host, isSecure: isSecure).content.text
                .split(separator: "class=\"done\"").count - 1
        }
        #expect(try done("192.168.1.5:8080", isSecure: false) == 1)
        #expect(try done("sallyport.test", isSecure: false) == 2)
        #expect(try done("sallyport.test", isSecure: true) == 3)
        #expect(try done("sallyport.test.evil.example", isSecure: false) == 1)
    }

    @Test(arguments: [
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)", "iPhone and iPad"),
        ("Mozilla/5.0 (Linux; Android 15; Pixel 9)", "Android"),
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64)", "Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)", "macOS"),
        ("Mozilla/5.0 (X11; Linux x86_64)", "Linux"),
    ])
    func opensTheStepsOfTheDevice(_ agent: String, _ name: String) throws {
        let page = try response("User-Agent: \(agent)\r\n").content.text
        #expect(page.contains("<details open>\n<summary>\(name)</summary>"))
        #expect(page.split(separator: "<details open>").count == 2)
    }

    @Test func passwordIsAnnounced() throws {
        #expect(try !response().content.text.contains("asks for a user and a password"))
        #expect(
            try response(needsPassword: true).content.text.contains(
                "asks for a user and a password"))
    }
}

extension OwnResponse {
    fileprivate func field(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }
}
