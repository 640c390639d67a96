import Base
import Testing

@Suite struct SettingLinesTests {
    @Test func readsLines() throws {
        let text = "# c\r\n a = 1 \r\nflag\n[one two]\nb= x = y\n\n[]\n[one two]\n\u{E9}=\u{FF}\n"
        let lines = try SettingLines(Array(text.utf8))
        #expect(lines.sections.map(\.name) == [nil, "one two", "", "one two"])
        let shown = lines.sections.map { section in
            section.settings.map { "\($0.place) \($0.name)|\($0.valuePlace) \($0.value ?? "none")" }
        }
        #expect(
            shown == [
                ["2:2 a|2:6 1", "3:1 flag|3:1 none"], ["5:1 b|5:4 x = y"], [],
                ["9:1 \u{E9}|9:3 \u{FF}"],
            ])
    }

    @Test(arguments: [
        ("a b = c", 1, 1), ("\n  = c", 2, 3), ("[gate", 1, 1), ("x = 1\n\t[", 2, 2),
    ])
    func refuses(_ text: String, _ line: Int, _ column: Int) throws {
        let violation = #expect(throws: SettingLines.Violation.self) {
            try SettingLines(Array(text.utf8))
        }
        #expect(violation?.place.line == line)
        #expect(violation?.place.column == column)
    }

    /// Whatever it is given, it ends, and what it reads stands where it says.
    @Test func survivesAnyBytes() {
        for seed in 0..<400 {
            let bytes = (0..<80).map { UInt8(truncatingIfNeeded: seed &* 31 &+ $0 &* $0 &* 7) }
            do throws(SettingLines.Violation) {
                for section in try SettingLines(bytes).sections {
                    #expect(section.settings.allSatisfy { $0.place.column >= 1 })
                }
            } catch {
                #expect(error.place.line >= 1)
            }
        }
    }
}
