import Base
import Testing
import Traffic

@testable import Findings

@Suite struct PrivacyDeclarationTests {
    static let list = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict>
        <key>NSPrivacyTracking</key><true/>
        <key>NSPrivacyTrackingDomains</key><array><string>Criteo.com</string></array>
        <key>NSPrivacyCollectedDataTypes</key><array><dict>
          <key>NSPrivacyCollectedDataType</key><string>NSPrivacyCollectedDataTypeDeviceID</string>
          <key>NSPrivacyCollectedDataTypeLinked</key><true/>
          <key>NSPrivacyCollectedDataTypePurposes</key><array>
            <string>NSPrivacyCollectedDataTypePurposeAnalytics</string></array>
        </dict><dict>
          <key>NSPrivacyCollectedDataType</key><string>NSPrivacyCollectedDataTypePhoneNumber</string>
        </dict></array>
        <key>NSBonjourServices</key><array><string>_ipp._tcp.</string></array>
        </dict></plist>
        """

    @Test func readsManifests() throws {
        var manifest = PrivacyManifest()
        try manifest.add(Array(Self.list.utf8), path: "PrivacyInfo.xcprivacy")
        #expect(manifest.dataTypes == [.deviceID, .phoneNumber])
        #expect(manifest.trackingDomains == ["criteo.com"])
        #expect(manifest.bonjourServices == ["_ipp._tcp"])
        #expect(manifest.declares(HostName("dis.eu.criteo.com")))
        #expect(!manifest.declares(HostName("notcriteo.com")))
    }

    @Test(arguments: ["", "bplist00\u{1}", "{}", "<html></html>"])
    func refusesOtherFiles(_ text: String) {
        #expect(throws: Failure.self) {
            var manifest = PrivacyManifest()
            try manifest.add(Array(text.utf8), path: "x")
        }
    }

    @Test(arguments: [
        (
            #"{"udid":"00008030-001A2D3E4F50802E"}"#, "one.test",
            ["PhoneNumber is declared, and was not seen"]
        ),
        (
            #"{"lat":37.7749,"lon":-122.4194}"#, "one.test",
            [
                "DeviceID is declared, and was not seen",
                "PhoneNumber is declared, and was not seen", "PreciseLocation is not declared",
            ]
        ),
        (
            #"{"udid":"00008030-001A2D3E4F50802E","phone":"+44 20 7946 0958"}"#, "x.adjust.com",
            ["the tracker is not declared"]
        ),
        (#"{"udid":"00008030-001A2D3E4F50802E","phone":"+44 20 7946 0958"}"#, "x.criteo.com", []),
    ])
    func compares(_ body: String, _ host: String, _ notes: [String]) throws {
        var configuration = FindingsLaboratory.configuration(firstParties: ["one.test"])
        try configuration.declare(Array(Self.list.utf8), path: "PrivacyInfo.xcprivacy")
        var engine = FindingsEngine(configuration)
        Sample.post(body, "application/json", over: .https, to: host).feed(&engine, id: 1)
        let found = engine.report().findings.filter { $0.rule == .privacyDeclaration }
        #expect(found.flatMap(\.notes).map(\.text).sorted() == notes)
    }

    @Test func isSilentWithoutDeclaration() {
        let found = FindingsLaboratory.findings(
            .post(#"{"udid":"00008030-001A2D3E4F50802E"}"#, "", over: .https))
        #expect(!found.contains { $0.rule == .privacyDeclaration })
    }
}
