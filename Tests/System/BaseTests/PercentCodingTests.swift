import Testing

@testable import Base

struct PercentCodingTests {
    @Test(arguments: [
        ("", "", ""), ("a%41b", "aAb", "aAb"), ("%", "%", nil), ("%4", "%4", nil),
        ("a%4", "a%4", nil), ("%zz%41", "%zzA", nil), ("%%41", "%A", nil), ("a+b", "a+b", "a+b"),
        ("%e4%BD%a0", "你", "你"), ("%25%32%35", "%25", "%25"),
    ])
    func decodes(_ text: String, _ leniently: String, _ strictly: String?) {
        let bytes = Array("x\(text)".utf8).dropFirst()
        #expect(PercentCoding.decoded(bytes).text == leniently)
        #expect(PercentCoding.strictlyDecoded(bytes)?.text == strictly)
    }

    @Test func takesPlusForSpaceInForms() {
        #expect(
            PercentCoding.decoded(Array("a+b%2B+".utf8)[...], plusIsSpace: true).text == "a b+ ")
    }

    @Test func encodesAllButWhatIsSpared() {
        #expect(PercentCoding.encoded("aZ9-._~ /é".utf8).text == "aZ9-._~%20%2F%C3%A9")
        #expect(PercentCoding.encoded("a/b".utf8) { $0 == 0x2F }.text == "%61/%62")
    }
}
