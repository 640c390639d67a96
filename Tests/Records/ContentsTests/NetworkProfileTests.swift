import Base
import Testing

@testable import Contents

/// What a profile says of proxies and CAs.
struct NetworkProfileTests {
    private static func profile(_ payloads: [ConfigurationProfile.Payload]) -> [UInt8] {
        ConfigurationProfile(
            identifier: "test.profile", title: "test", description: "", payloads
        ) { _ in "00000000-0000-4000-8000-000000000000" }.document
    }

    private static func proxy(
        _ entries: [(String, PropertyListText)]
    ) -> ConfigurationProfile.Payload {
        ConfigurationProfile.Payload(
            "com.apple.proxy.http.global", name: "proxy", title: "proxy",
            entries.map { PropertyListText.Entry($0.0, $0.1) })
    }

    static let rows: [(payloads: [ConfigurationProfile.Payload], proxy: ProfileProxy?)] = [
        ([], nil),
        (
            [
                proxy([
                    ("ProxyType", .string("Manual")), ("ProxyServer", .string("p.test")),
                    ("ProxyServerPort", 3128), ("ProxyUsername", .string("u")),
                    ("ProxyPassword", .string("s")),
                ])
            ], .manual(host: "p.test", port: 3128, user: "u", password: "s")
        ),
        (
            [
                proxy([
                    ("ProxyType", .string("Auto")), ("ProxyPACURL", .string("http://p.test/pac")),
                ])
            ], .automatic(url: "http://p.test/pac")
        ),
    ]

    @Test(arguments: rows.indices)
    func namesAProxy(_ index: Int) throws {
        let row = Self.rows[index]
        #expect(try NetworkProfile(Self.profile(row.payloads)).proxy == row.proxy)
    }

    @Test func namesAuthorities() throws {
        let certificate = [UInt8](repeating: 0xA7, count: 700)
        let payload = ConfigurationProfile.Payload.authority(
            certificate, isRoot: true, title: "CA", description: "", file: "ca.cer")
        #expect(try NetworkProfile(Self.profile([payload])).authorities == [certificate])
    }

    @Test(arguments: [
        [UInt8](), [0x30, 0x82, 0x01], Array("<plist><dict></dict></plist>".utf8),
        profile([proxy([("ProxyType", .string("Manual")), ("ProxyServer", .string("p"))])]),
        profile([proxy([("ProxyType", .string("Auto"))])]),
        Array(profile([]).dropLast(40)),
    ])
    func refusesWhatIsNone(_ bytes: [UInt8]) {
        let failure = #expect(throws: Failure.self) { try NetworkProfile(bytes) }
        #expect(failure?.code == "profile-invalid")
    }
}
