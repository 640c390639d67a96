import Base
import Contents
import Testing

struct ProfileLintTests {
    private static let proxy = ConfigurationProfile.Payload(
        "com.apple.proxy.http.global", name: "proxy", title: "Proxy",
        [
            PropertyListText.Entry("ProxyType", "Manual"),
            PropertyListText.Entry("ProxyServer", "proxy.test"),
            PropertyListText.Entry("ProxyServerPort", 8080),
        ])

    private static func profile(_ payloads: [ConfigurationProfile.Payload]) -> String {
        ConfigurationProfile(
            identifier: "org.example.test", title: "A <test> & more", description: "", payloads
        ) { purpose in
            UUIDText.text(seed: UInt64(purpose.utf8.reduce(0) { $0 + Int($1) }))
        }.document.text
    }

    private static func findings(_ text: String) -> [String] {
        ProfileLint.findings([UInt8](text.utf8)).map { "\($0.code.rawValue) \($0.path)" }
    }

    @Test func acceptsWhatItWrites() {
        #expect(Self.findings(Self.profile([Self.proxy])).isEmpty)
        let values = PropertyListReader.read([UInt8](Self.profile([Self.proxy]).utf8))
        #expect(values.isWhole)
        #expect(values.values.contains { $0.bytes.elementsEqual("A <test> & more".utf8) })
    }

    /// One change each, and what it is called.
    @Test(
        arguments: [
            (
                "<string>Configuration</string>", "<string>Other</string>",
                ["wrong-value PayloadType"]
            ),
            (
                "<key>PayloadVersion</key>\n<integer>1</integer>\n<key>PayloadRemoval",
                "<key>PayloadRemoval", ["missing-key PayloadVersion"]
            ),
            (
                "<integer>1</integer>\n<key>PayloadRemoval",
                "<integer>2</integer>\n<key>PayloadRemoval", ["wrong-value PayloadVersion"]
            ),
            (
                "<integer>1</integer>\n<key>PayloadRemoval",
                "<string>1</string>\n<key>PayloadRemoval", ["wrong-type PayloadVersion"]
            ),
            (
                "<integer>8080</integer>", "<string>8080</string>",
                ["wrong-type PayloadContent[0].ProxyServerPort"]
            ),
            (
                "<integer>8080</integer>", "<integer>80800</integer>",
                ["wrong-value PayloadContent[0].ProxyServerPort"]
            ),
            (
                "<string>Manual</string>", "<string>Automatic</string>",
                ["wrong-value PayloadContent[0].ProxyType"]
            ),
            (
                "<string>proxy.test</string>", "<true/>",
                ["wrong-type PayloadContent[0].ProxyServer"]
            ),
            (
                "org.example.test.proxy", "org.example.test",
                [
                    "duplicate-identifier PayloadContent[0].PayloadIdentifier",
                    "foreign-identifier PayloadContent[0].PayloadIdentifier",
                ]
            ),
            (
                "org.example.test.proxy", "com.other.proxy",
                ["foreign-identifier PayloadContent[0].PayloadIdentifier"]
            ),
            (
                "com.apple.proxy.http.global", "com.apple.proxy.http.other",
                ["unknown-payload PayloadContent[0].PayloadType"]
            ),
            (
                "<key>ProxyServer</key>", "<key>ProxyPassword</key>",
                [
                    "missing-key PayloadContent[0].ProxyServer",
                    "secret PayloadContent[0].ProxyPassword",
                ]
            ),
            (
                "<key>ProxyServerPort</key>", "<key>ProxyServer</key>",
                [
                    "duplicate-key PayloadContent[0].ProxyServer",
                    "missing-key PayloadContent[0].ProxyServerPort",
                    "wrong-type PayloadContent[0].ProxyServer",
                ]
            ),
            ("</plist>", "", []), ("</dict>\n</plist>", "", ["not-a-property-list "]),
            ("<plist version=\"1.0\">", "<other>", ["not-a-property-list "]),
            (
                "<key>PayloadUUID</key>\n<string>", "<key>PayloadUUID</key>\n<string>no",
                ["invalid-uuid PayloadUUID", "invalid-uuid PayloadContent[0].PayloadUUID"]
            ),
        ] as [(String, String, [String])])
    func finds(_ old: String, _ new: String, _ expected: [String]) {
        let text = Self.profile([Self.proxy])
        #expect(text.contains(old))
        let parts = text.split(separator: old, omittingEmptySubsequences: false)
        #expect(Self.findings(parts.joined(separator: new)).sorted() == expected.sorted())
    }

    @Test func findsTwoOfOneUUID() {
        let text = Self.profile([Self.proxy, Self.proxy])
        #expect(
            Self.findings(text) == [
                "duplicate-uuid PayloadContent[1].PayloadUUID",
                "duplicate-identifier PayloadContent[1].PayloadIdentifier",
            ])
    }

    private static func payload(
        _ type: String, _ entries: [(String, PropertyListText)]
    ) -> ConfigurationProfile.Payload {
        ConfigurationProfile.Payload(
            type, name: "one", title: "One",
            entries.map { PropertyListText.Entry($0.0, $0.1) })
    }

    @Test(
        arguments: [
            ("com.apple.security.root", [("PayloadContent", .data([1]))], []),
            (
                "com.apple.security.root", [("PayloadContent", "MIIB")],
                ["wrong-type PayloadContent[0].PayloadContent"]
            ),
            (
                "com.apple.proxy.http.global",
                [("ProxyType", "Auto"), ("ProxyPACURL", "https://a.test/p.pac")], []
            ),
            (
                "com.apple.proxy.http.global",
                [("ProxyType", "Auto"), ("ProxyPACURL", "file:///p.pac")],
                ["wrong-value PayloadContent[0].ProxyPACURL"]
            ),
            (
                "com.apple.relay.managed",
                [("Relays", [["HTTP2RelayURL": "https://relay.test/"]])], []
            ),
            (
                "com.apple.relay.managed",
                [("Relays", [["HTTP2RelayURL": "http://relay.test/"], ["Other": 1]])],
                [
                    "wrong-value PayloadContent[0].Relays[0].HTTP2RelayURL",
                    "missing-key PayloadContent[0].Relays[1]",
                ]
            ),
            (
                "com.apple.sso",
                [("Name", "A"), ("Kerberos", ["PrincipalName": "alice"])],
                ["missing-key PayloadContent[0].Kerberos.Realm"]
            ),
            (
                "com.apple.extensiblesso",
                [
                    ("ExtensionIdentifier", "com.example.sso"), ("Type", "Redirect"),
                    ("URLs", ["https://login.test"]),
                ], []
            ),
            (
                "com.apple.extensiblesso",
                [("ExtensionIdentifier", "com.example.sso"), ("Type", "Credential")],
                [
                    "missing-key PayloadContent[0].Hosts", "missing-key PayloadContent[0].Realm",
                ]
            ),
        ] as [(String, [(String, PropertyListText)], [String])])
    func judgesPayloads(
        _ type: String, _ entries: [(String, PropertyListText)], _ expected: [String]
    ) {
        #expect(Self.findings(Self.profile([Self.payload(type, entries)])) == expected)
    }

    /// Nothing that is hostile costs more than its length, or goes on without end.
    @Test(arguments: [
        String(repeating: "<array>", count: 10_000), "<plist><dict>", "",
        "<plist>" + String(repeating: "<dict><key>a</key>", count: 5_000), "\u{0}\u{1}",
        "<plist><dict>" + String(repeating: "<key>k</key><true/>", count: 6_000)
            + "</dict></plist>",
    ])
    func survives(_ text: String) {
        #expect(Self.findings(text) == ["not-a-property-list "])
    }
}
