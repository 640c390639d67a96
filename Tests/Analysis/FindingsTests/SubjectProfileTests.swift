import Base
import Testing

@testable import Findings

@Suite struct SubjectProfileTests {
    @Test func parses() throws {
        let profile = try SubjectProfile.parse(
            "# subject\n\nowner: *.Shop.example\nowner:api.other.example\r\n"
                + "password.account = correct = horse\nemail.work=Nora@shop.example\n")
        #expect(profile.values.map(\.key) == ["password.account", "email.work"])
        #expect(profile.values.first?.bytes == Array("correct = horse".utf8))
        for (host, expected) in [
            ("shop.example", true), ("a.b.shop.example", true), ("evilshop.example", false),
            ("api.other.example:443", true), ("x.api.other.example", false), ("", false),
        ] {
            #expect(profile.isOwner(HostName(host)) == expected, "\(host)")
        }
    }

    @Test(arguments: [
        ("password.a = short", "line 1: password.a is shorter than 6 characters"),
        ("\notp.a = 1234567", "line 2: otp.a is a number of fewer than 8 digits"),
        ("password.a = secret", "line 1: password.a is a common word of fewer than 8 letters"),
        ("password.a = aaaaaaaa", "line 1: password.a has fewer than 3 different characters"),
        ("password = longer-value", "line 1: a key begins with one of"),
        ("colour.a = longer-value", "line 1: a key begins with one of"),
        ("password.a b = longer-value", "line 1: a name is made of letters"),
        ("password. = longer-value", "line 1: a name is made of letters"),
        ("password.hunter2x = hunter2x", "line 1: the name of the key holds its value"),
        ("nonsense", "line 1: expected kind.name = value or owner: host"),
        ("owner: a b", "line 1: owner is no host and no *.domain"),
        ("id.a = value-one\nid.a = value-two", "line 2: id.a is given twice"),
    ])
    func refuses(_ text: String, _ detail: String) {
        let failure = #expect(throws: Failure.self) { try SubjectProfile.parse(text) }
        #expect(failure?.code == "profile-invalid")
        #expect(failure?.detail.contains(detail) == true, "\(failure?.detail ?? "")")
    }
}
