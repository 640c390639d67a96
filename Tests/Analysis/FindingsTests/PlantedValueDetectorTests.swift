import Base
import Testing
import Traffic

@testable import Findings

@Suite struct PlantedValueDetectorTests {
    static let password = "c0rrect/Horse+7"
    static let email = "Nora.Quist@shop.example"
    static let text =
        "owner: *.shop.example\npassword.account = \(password)\nemail.work = \(email)\n"
        + "phone.own = +44 20 7946 0958\n"

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let traffic: Sample
        let severity: Severity?
        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(
            name: "e-mail in Base64 to a third party",
            traffic: .post(
                "{\"e\":\"\(base64("id=" + email + ";"))\"}", "application/json", over: .https,
                to: "stats.example"), severity: .high),
        Row(
            name: "e-mail to its owner",
            traffic: .post("{\"m\":\"\(email)\"}", "application/json", over: .https, to: owner),
            severity: nil),
        Row(
            name: "password to its owner",
            traffic: .post("p=\(password)", "", over: .https, to: owner), severity: nil),
        Row(
            name: "password in cleartext", traffic: .post("{\"q\":\"\(password)\"}", "", to: owner),
            severity: .critical),
        Row(
            name: "password in the owner's URL",
            traffic: Sample(scheme: .https, host: owner, target: "/s?q=c0rrect%2fHorse%2B7"),
            severity: .high),
        Row(
            name: "e-mail in the owner's URL",
            traffic: Sample(scheme: .https, host: owner, target: "/u/nora.quist%40shop.example"),
            severity: .low),
        Row(
            name: "password in Referer",
            traffic: Sample(
                scheme: .https, host: owner, headers: ["Referer: https://a/\(password)"]),
            severity: .high),
        Row(
            name: "password comes back",
            traffic: Sample(
                scheme: .https, host: owner, responseHeaders: ["Content-Type: text/plain"],
                responseBody: Array("you are \(password)!".utf8)), severity: .medium),
        Row(
            name: "made by the tool",
            traffic: Sample(
                scheme: .https, host: owner, responseBody: Array(password.utf8),
                answeredByTool: true), severity: nil),
        Row(
            name: "hash to a third party",
            traffic: .post(
                "h=\(FindingsLaboratory.digests.md5(Array(email.lowercased().utf8)).hex)", "",
                over: .https, to: "ads.example"), severity: .medium),
        Row(
            name: "phone in another notation",
            traffic: .post("t=442079460958", "", over: .https, to: "ads.example"), severity: .high),
        Row(
            name: "nothing planted",
            traffic: .post("t=442079460950", "", over: .https, to: "a.example"),
            severity: nil),
    ])
    func judges(_ row: Row) throws {
        let profile = try SubjectProfile.parse(Self.text)
        let found = FindingsLaboratory.findings(row.traffic, profile: profile)
        #expect(
            found.first { [.plantSecret, .plantID].contains($0.rule) }?.severity == row.severity)
    }

    @Test func findsEveryEncoding() throws {
        let profile = try SubjectProfile.parse(Self.text)
        let automaton = try #require(
            PlantedAutomaton(profile, digests: FindingsLaboratory.digests))
        for (index, value) in profile.values.enumerated() {
            let forms = PlantedEncoding.forms(of: value, digests: FindingsLaboratory.digests)
            for (encoding, form) in forms {
                let around = Array("xx".utf8) + form + Array("yy".utf8)
                let found = automaton.hits(in: around).contains { $0.value == index }
                #expect(found, "\(encoding.rawValue): \(form.text)")
            }
        }
    }

    @Test(arguments: 0..<9)
    func findsBase64AtEveryAlignment(_ offset: Int) throws {
        let profile = try SubjectProfile.parse(Self.text)
        let automaton = try #require(
            PlantedAutomaton(profile, digests: FindingsLaboratory.digests))
        let bytes = [UInt8](repeating: 0xC7, count: offset) + Array(Self.password.utf8) + [0x99]
        #expect(automaton.occurs(in: Array(Base64.encode(bytes).utf8)))
        #expect(!automaton.occurs(in: Array(Base64.encode(bytes.reversed()).utf8)))
    }

    @Test func findsOverlappingForms() throws {
        let profile = try SubjectProfile.parse("id.a = abcabd\nid.b = bcabdx\nid.c = cabdxyz")
        let automaton = try #require(
            PlantedAutomaton(profile, digests: FindingsLaboratory.digests))
        let found = automaton.hits(in: Array("ababcabcabdxyz".utf8)).map(\.value)
        #expect(Set(found) == [0, 1, 2])
    }

    private static let owner = "login.shop.example"

    /// Locations are numbers, and what was seen is told whether it was allowed or not.
    @Test(arguments: [
        ("?lat=37.774912&lon=-122.419388", true), ("?lat=37.7760&lon=-122.4194", false),
        ("?x=37.7749,-122.4194", true), ("?location=37.77491,-122.41936", true),
    ])
    func comparesLocations(_ query: String, _ isSeen: Bool) throws {
        let profile = try SubjectProfile.parse(
            "owner: own.test\nlocation.home = 37.7749,-122.4194\nid.own = 7f3a9c2e41")
        for host in ["own.test", "x.net"] {
            let traffic = Sample(scheme: .https, host: host, target: "/" + query)
            let report = FindingsLaboratory.run([traffic], profile: profile)
            let found = report.findings.filter { $0.rule == .plantID }
            #expect(found.isEmpty != (isSeen && host == "x.net") || host == "own.test")
            #expect(found.isEmpty || isSeen)
        }
    }
}
