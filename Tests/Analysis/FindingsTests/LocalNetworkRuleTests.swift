import Base
import LoginRows
import Testing
import Traffic

@testable import Findings
@testable import Logins

/// LAN-*, META-CLEAR and UNSAFE-PROTO: what each must find, and what it must leave alone.
@Suite struct LocalNetworkRuleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let rule: RuleID
        let sample: DialogueSample
        let severities: [Severity]
        var texts: [String] = []
        var testDescription: String { "\(rule.rawValue): \(name)" }

        init(
            _ name: String, _ rule: RuleID, _ sample: DialogueSample, _ severities: [Severity],
            _ texts: [String] = []
        ) {
            self.name = name
            self.rule = rule
            self.sample = sample
            self.severities = severities
            self.texts = texts
        }
    }

    /// Part of the corpus.
    static let rows: [LocalNetworkRuleTests.Row] =
        destinationRows + discoveryRows + unsafeRows + askedRows

    @Test(arguments: rows)
    func judges(_ row: Row) {
        let found = row.sample.report().findings.filter { $0.rule == row.rule }
        #expect(found.map(\.severity) == row.severities)
        let told = found.flatMap { $0.notes.map(\.text) + [$0.selector?.text ?? ""] }
        for text in row.texts { #expect(told.contains(text), "\(told)") }
    }

    @Test func tellsNamesOnce() throws {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        for index in 0..<20 {
            var sample = DialogueSample.datagrams(
                "dns", .client(question("n\(index).shop.example", 1)),
                .client(question("N\(index).shop.example", 28)),
                .origin(question("other.example", 1)))
            sample.port = 53
            engine.observe(sample.connection, messages: sample.gathered(.datagram))
        }
        var record = DialogueSample(host: "198.51.100.1", port: 443).connection
        record.clientTLS = TLSRecord()
        record.clientTLS?.sni = "api.shop.example"
        engine.observe(record)
        let netBIOS = "FFFPFCFEDBCACACACACACACACACACAAA"
        let sample = DialogueSample.datagrams("nbns", .client(question(netBIOS, 32)))
        engine.observe(sample.connection, messages: sample.gathered(.datagram))
        for _ in 0..<2 {
            let found = engine.report().findings.filter { $0.rule == .namesInClear }
            #expect(found.count == 1)
            let notes = try #require(found.first).notes.map(\.text)
            #expect(notes.count == 3)
            #expect(notes[0].hasPrefix("DNS, 20 names: n0.shop.example, n1.shop.example, "))
            #expect(notes[0].hasSuffix(", n7.shop.example, .."))
            #expect(notes[1] == "SNI, 1 name: api.shop.example")
            #expect(notes[2] == "NetBIOS, 1 name: u_rt1")
        }
    }

    /// Names are the subject's values too, however they are asked for.
    @Test(arguments: [false, true]) func findsPlantedNames(isTLS: Bool) throws {
        let profile = try SubjectProfile.parse(
            "owner: own.example\nid.host = noras-box.home.example")
        let asked = Said.client(stream(question("Noras-Box.home.example", 1)))
        let sample = DialogueSample(
            host: "203.0.113.9", port: 853, protocolName: "dns", isTLS: isTLS, said: [asked])
        let found = sample.report(profile: profile).findings.filter { $0.rule == .plantID }
        #expect(found.map(\.severity) == [.high])
        let sent = FindingsLaboratory.run(
            [posted(question("noras-box.home.example", 1))], profile: profile
        ).findings
        #expect(sent.filter { $0.rule == .plantID }.map(\.severity) == [.high])
    }

    /// DNS over HTTPS, as it was decrypted (RFC 8484).
    @Test func readsNamesInExchanges() {
        let asked = question("ssl.google-analytics.com", 1)
        let coded = Base64.encode(asked).replacing("=", with: "")
        for sample in [posted(asked), .get("/dns-query?dns=\(coded)", over: .https)] {
            let found = FindingsLaboratory.findings(sample).filter { $0.rule == .trackHost }
            #expect(found.map(\.party.text) == ["google-analytics.com"])
            #expect(found.first?.notes.contains(.privacy(.nameAsked)) == true)
        }
        let leaks = FindingsLaboratory.findings(posted(question("printer.local", 1)))
            .filter { $0.rule == .localLeak }
        #expect(leaks.map { $0.selector?.text } == ["dns /question"])
    }

    @Test func tellsNoNameWhereNonePassed() {
        let sample = DialogueSample.datagrams("dns", .origin(question("other.example", 1)))
        #expect(!sample.report().findings.contains { $0.rule == .namesInClear })
    }

    /// What a client puts into a name must not be told.
    @Test(arguments: ["pl4nted-Secret", "k4x9q2m7w1z5"])
    func keepsSecretsOut(_ secret: String) throws {
        let profile = try SubjectProfile.parse("token.a = \(secret)")
        var engine = FindingsEngine(FindingsLaboratory.configuration(profile: profile))
        let samples = [
            DialogueSample.datagrams("dns", .client(question("\(secret).shop.example", 1))),
            udp("224.0.0.251", "mdns", .client(question("_\(secret)._tcp.local", 12))),
            udp(
                "239.255.255.250", "ssdp",
                .client("M-SEARCH * HTTP/1.1\r\nST: uuid:\(secret)\r\n\r\n")),
        ]
        for sample in samples {
            engine.observe(sample.connection, messages: sample.gathered(.datagram))
        }
        let report = engine.report()
        #expect(report.findings.contains { $0.rule == .namesInClear })
        #expect(report.findings.contains { $0.rule == .ssdp })
        let texts = [
            FindingsJSON.document(report).line.text, FindingsText.render(report, color: false),
            String(describing: report),
        ]
        for text in texts { #expect(!text.contains(secret)) }
    }

    struct Leak: Sendable, CustomTestStringConvertible {
        let body: String
        let severity: Severity?
        var host = "api.example"
        var testDescription: String { body }

        init(_ body: String, _ severity: Severity?, to host: String = "api.example") {
            self.body = body
            self.severity = severity
            self.host = host
        }
    }

    @Test(arguments: [
        Leak(#"{"lan_ip":"192.168.1.20"}"#, .low), Leak(#"{"ip":"10.2.3.4"}"#, .low),
        Leak(#"{"device":{"host":"noras-mac.local"}}"#, .low),
        Leak(#"{"wifi_ssid":"Villa"}"#, .low),
        Leak(#"{"x":"fe80::1c2d:3e4f:5a6b:7c8d"}"#, .low),
        Leak(#"{"c":"candidate:1 1 udp 2113937151 192.168.1.20 5000 typ host"}"#, .info),
        Leak(#"{"version":"10.2.3.4"}"#, nil), Leak(#"{"x":"10.2.3.4"}"#, nil),
        Leak(#"{"server_version":"192.168.1.2"}"#, nil), Leak(#"{"ip":"203.0.113.7"}"#, nil),
        Leak(
            #"{"c":"candidate:1 1 udp 1 2f7a3c52-8d1e-4b6f-9c3a-1e2d3c4b5a69.local 5000 typ host"}"#,
            nil),
        Leak(#"{"host":"2f7a3c52-8d1e-4b6f-9c3a-1e2d3c4b5a69.local"}"#, nil),
        Leak(#"{"ssid":null,"bssid":""}"#, nil), Leak(#"{"time":"12:30:45"}"#, nil),
        Leak(#"{"lan_ip":"192.168.1.20"}"#, nil, to: "192.168.1.1"),
        Leak(#"{"lan_ip":"192.168.1.20"}"#, nil, to: "printer.local"),
    ])
    func judgesLeak(_ leak: Leak) {
        let sample = Sample.post(leak.body, "application/json", over: .https, to: leak.host)
        let found = FindingsLaboratory.findings(sample).filter { $0.rule == .localLeak }
        #expect(found.map(\.severity) == (leak.severity.map { [$0] } ?? []))
    }

    @Test(arguments: [
        ("10.255.1.2", AddressScope.privateNetwork), ("172.16.0.1", .privateNetwork),
        ("172.32.0.1", .global), ("192.168.0.1", .privateNetwork), ("192.169.0.1", .global),
        ("169.254.1.1", .linkLocal), ("100.64.0.1", .shared), ("100.128.0.1", .global),
        ("224.0.0.251", .group), ("239.255.255.250", .group), ("255.255.255.255", .group),
        ("127.0.0.1", .loopback), ("fe80::1", .linkLocal), ("fd00::1", .privateNetwork),
        ("ff02::fb", .group), ("::1", .loopback), ("2001:db8::1", .global), ("a.example", nil),
        ("1.2.3", nil),
    ])
    func tellsScopes(_ host: String, _ scope: AddressScope?) {
        #expect(AddressScope(HostName(host)) == scope)
    }
}

private typealias Row = LocalNetworkRuleTests.Row

private func posted(_ message: [UInt8]) -> Sample {
    var sample = Sample.post("", "application/dns-message", over: .https, to: "dns.example")
    sample.body = message
    return sample
}

/// Behind its length.
private func stream(_ message: [UInt8]) -> [UInt8] { [0, UInt8(message.count)] + message }

/// A question for a name, of a type.
private func question(_ name: String, _ type: UInt8) -> [UInt8] {
    let labels = name.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + [UInt8]($0.utf8) }
    return [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0] + labels + [0, 0, type, 0, 1]
}

private func tcp(
    _ host: String, _ port: UInt16, _ name: String = "unknown", isTLS: Bool = false
) -> DialogueSample {
    DialogueSample(host: host, port: port, protocolName: name, isTLS: isTLS)
}

private func udp(
    _ host: String, _ name: String, isImported: Bool = false, _ said: Said...
) -> DialogueSample {
    var sample = DialogueSample(
        host: host, port: 5000, protocolName: name, isDatagrams: true, said: said)
    if isImported { sample.notes = [ConnectionNote("imported-packets", "")] }
    return sample
}

private let destinationRows: [Row] = [
    Row(
        "a private address", .localDestination, tcp("192.168.1.23", 80), [.medium],
        ["it is in a private network"]),
    Row(
        "of the link", .localDestination, tcp("fe80::7", 443, isTLS: true), [.medium],
        ["it is in the local link"]),
    Row("a name of the link", .localDestination, tcp("printer.local", 631), [.medium]),
    Row("a flow of UDP", .localDestination, udp("10.1.2.3", "udp"), [.medium]),
    Row("a public address", .localDestination, tcp("203.0.113.5", 443), []),
    Row("a name", .localDestination, tcp("api.example", 443), []),
    Row("the network's name server", .localDestination, tcp("192.168.1.1", 53), []),
    Row("its time", .localDestination, udp("192.168.1.1", "ntp"), []),
    Row("this machine", .localDestination, tcp("127.0.0.1", 80), []),
    Row("a group", .localGroup, udp("239.255.255.250", "ssdp"), [.medium]),
    Row("a group of IPv6", .localGroup, udp("ff02::c", "udp"), [.medium]),
    Row("everybody", .localGroup, udp("255.255.255.255", "udp"), [.medium]),
    Row("addresses of the network", .localGroup, udp("255.255.255.255", "dhcp"), []),
    Row("names of the link", .localGroup, udp("224.0.0.251", "mdns"), []),
    Row("one host", .localGroup, udp("10.0.0.7", "udp"), []),
]

private let discoveryRows: [Row] = [
    Row(
        "printers and one more", .bonjour,
        udp(
            "224.0.0.251", "mdns", .client(question("_ipp._tcp.local", 12)),
            .client(question("Nora's box._http._tcp.local", 33))),
        [.medium, .medium], ["dialogue _ipp._tcp", "dialogue _http._tcp"]),
    Row(
        "all of them", .bonjour,
        udp("224.0.0.251", "mdns", .client(question("_services._dns-sd._udp.local", 12))), [.high],
        ["lists all kinds of services"]),
    Row(
        "all of them, on a network of others", .bonjour,
        udp(
            "224.0.0.251", "mdns", isImported: true,
            .client(question("_services._dns-sd._udp.local", 12))), [.medium]),
    Row(
        "what others answer", .bonjour,
        udp("224.0.0.251", "mdns", .origin(question("_ipp._tcp.local", 12))), []),
    Row(
        "a host", .bonjour, udp("224.0.0.251", "mdns", .client(question("nora.local", 1))), []),
    Row(
        "services of the Internet", .bonjour,
        udp("192.0.2.1", "dns", .client(question("_sip._tcp.a.example", 33))), []),
    Row(
        "a search", .ssdp,
        udp(
            "239.255.255.250", "ssdp",
            .client("M-SEARCH * HTTP/1.1\r\nMAN: \"ssdp:discover\"\r\nST: ssdp:all\r\n\r\n")),
        [.medium], ["dialogue ssdp:all"]),
    Row(
        "an answer", .ssdp,
        udp("192.0.2.1", "ssdp", .origin("HTTP/1.1 200 OK\r\nST: upnp:rootdevice\r\n\r\n")), []),
]

private let askedRows: [Row] = [
    Row(
        "a tracker's name", .trackHost,
        udp("203.0.113.9", "dns", .client(question("SSL.Google-Analytics.com", 1))), [.info],
        ["a name server was asked for its name", "on the list of well-known trackers"]),
    Row(
        "a tracker's name, inside of TLS", .trackHost,
        DialogueSample(
            host: "203.0.113.9", port: 853, protocolName: "dns", isTLS: true,
            said: [
                .client(stream(question("a.example", 1)) + stream(question("doubleclick.net", 1)))
            ]), [.info]),
    Row(
        "names of others", .trackHost,
        udp("203.0.113.9", "dns", .client(question("notdoubleclick.net", 1))), []),
    Row(
        "what a name server says", .trackHost,
        udp("203.0.113.9", "dns", .origin(question("doubleclick.net", 1))), []),
    Row(
        "a name of the link", .localLeak,
        udp("203.0.113.9", "dns", .client(question("noras-mac.local", 1))), [.low]),
    Row(
        "a name of the link, asked at home", .localLeak,
        udp("192.168.1.1", "dns", .client(question("noras-mac.local", 1))), []),
    Row(
        "a name of the link in mDNS", .localLeak,
        udp("224.0.0.251", "mdns", .client(question("noras-mac.local", 1))), []),
    Row(
        "names inside of TLS are not in clear", .namesInClear,
        DialogueSample(
            host: "203.0.113.9", port: 853, protocolName: "dns", isTLS: true,
            said: [.client(stream(question("a.example", 1)))]), []),
    Row(
        "names over TCP are", .namesInClear,
        DialogueSample(
            host: "203.0.113.9", port: 53, protocolName: "dns",
            said: [.client(stream(question("a.example", 1)))]), [.info], ["DNS, 1 name: a.example"]),
]

private let unsafeRows: [Row] = [
    Row(
        "IRC without a password", .unsafeProtocol,
        .said("irc", .client("NICK nora\r\nUSER n 0 * :N\r\n"), .origin(":a 001 nora :hi\r\n")),
        [.low]),
    Row("a log", .unsafeProtocol, udp("192.0.2.1", "syslog", .client("<34>x y")), [.low]),
    Row(
        "a login says more", .unsafeProtocol,
        .said(
            "ftp", .origin("220 files\r\n"), .client("USER nora\r\nPASS s3cret\r\n"),
            .origin("331 ?\r\n230 in\r\n")), []),
    Row(
        "TLS that was offered says more", .unsafeProtocol,
        DialogueSample(
            protocolName: "smtp", notes: [.init("upgrade-offered", "x")],
            said: [.client("EHLO a\r\n")]),
        []),
    Row(
        "inside of TLS", .unsafeProtocol,
        DialogueSample(protocolName: "irc", isTLS: true, said: [.client("NICK nora\r\n")]), []),
    Row(
        "behind the switch", .unsafeProtocol,
        DialogueSample(protocolName: "smtp", upgrade: "STARTTLS", said: [.client("EHLO a\r\n")]), []
    ),
    Row("nothing that is known", .unsafeProtocol, .said("unknown", .client("x")), []),
    Row("a greeting alone", .unsafeProtocol, .said("ftp", .origin("220 files\r\n")), []),
    Row(
        "this machine", .unsafeProtocol,
        DialogueSample(host: "localhost", protocolName: "irc", said: [.client("NICK nora\r\n")]), []
    ),
]
