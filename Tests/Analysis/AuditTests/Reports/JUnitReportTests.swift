import Base
import Testing

@testable import Audit

@Suite struct JUnitReportTests {
    @Test(.enabled(if: Python.path != nil))
    func isReadByOthers() throws {
        let script = """
            import sys, xml.etree.ElementTree as tree
            root = tree.parse(sys.argv[1]).getroot()
            for e in [root] + list(root):
                print(e.tag, e.get("name"), *[e.get(k) for k in
                    ("tests", "failures", "errors", "skipped", "time")])
            for case in root.iter("testcase"):
                print(case.get("classname"), case.get("name"), case.get("time"),
                    *[c.tag for c in case])
            failure = next(root.iter("failure"))
            print(failure.get("type"), repr(failure.get("message")))
            print("evidence" in failure.text, "fix: verify chains" in failure.text)
            """
        let text = JUnitReport().text(sampleReport())
        let read = try Python.run(script, input: Array(text.utf8))
        #expect(
            read == """
                testsuites sallyport audit 13 3 2 2 12.500000
                testsuite app@www.example.com:443 6 2 0 0 1.250000
                testsuite b äß@www.example.com:443 7 1 2 2 0.000000
                control control-good (app@www.example.com:443) 0.000000 system-out
                trust trust-self-signed (app@www.example.com:443) 1.250000 failure
                trust trust-self-signed-ca (app@www.example.com:443) 0.000000 failure
                name name-wrong-host (app@www.example.com:443) 0.000000 system-out
                crypto crypto-leaf-sha1 (app@www.example.com:443) 0.000000 system-out
                name name-cn-only (app@www.example.com:443) 0.000000 system-out
                control control-good (b äß@www.example.com:443) 0.000000 system-out
                trust trust-self-signed (b äß@www.example.com:443) 0.000000 failure
                name name-wrong-host (b äß@www.example.com:443) 0.000000 error
                handshake handshake-anon (b äß@www.example.com:443) 0.000000 skipped
                trust trust-mimic-full-chain (b äß@www.example.com:443) 0.000000 skipped
                time time-expired (b äß@www.example.com:443) 0.000000 error
                handshake handshake-freak (b äß@www.example.com:443) 0.000000 system-out
                accepted 'accepted: the client sent data <b>&"{0}"\\\\u{1b}[31m\\\\u{0}\\\\u{fffe}]]> [a](1)\\ttab\\nline'
                True True

                """)
    }

    @Test func warningsFailIfAsked() {
        let report = sampleReport()
        #expect(JUnitReport().text(report).contains(#"tests="13" failures="3""#))
        let strict = JUnitReport(countsWarnings: true).text(report)
        #expect(strict.contains(#"tests="13" failures="5" errors="2" skipped="2""#))
    }

    @Test(.enabled(if: Python.path != nil))
    func anyTextIsWellFormed() throws {
        var report = sampleReport()
        var everything = String.UnicodeScalarView()
        for value in UInt32(0)...0x2FFF {
            if let scalar = Unicode.Scalar(value) { everything.append(scalar) }
        }
        for value in UInt32(0xFFF0)...0x1_0010 {
            if let scalar = Unicode.Scalar(value) { everything.append(scalar) }
        }
        for index in report.results.indices {
            report.results[index].client = String(everything)
            report.results[index].evidence = String(everything)
        }
        let read = try Python.run(
            "import sys, xml.etree.ElementTree as t; print(len(list(t.parse(sys.argv[1]).iter('testcase'))))",
            input: Array(JUnitReport().text(report).utf8))
        #expect(read == "13\n")
    }
}
