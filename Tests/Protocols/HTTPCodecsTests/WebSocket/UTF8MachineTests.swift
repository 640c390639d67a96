import Base
import Testing

@testable import HTTPCodecs

@Suite struct UTF8MachineTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        /// How many bytes can begin UTF-8.
        var valid: Int
        var isComplete: Bool
        var testDescription: String { name }

        init(_ name: String, _ text: String, valid: Int? = nil, isComplete: Bool = true) {
            self.name = name
            bytes = hex(text)
            self.valid = valid ?? bytes.count
            self.isComplete = isComplete
        }
    }

    static let rows: [Row] = [
        Row("nothing", ""), Row("ASCII", "00 41 7f"),
        Row("two bytes", "c280 dfbf"), Row("three bytes", "e0a080 e18080 ecbfbf efbfbf"),
        Row("around surrogates", "ed9fbf ee8080"), Row("four bytes", "f0908080 f48fbfbf"),
        Row("mixed", "41 c3bc 42 e282ac 43 f09f9880 44"),
        Row("long", "c3bc c3bc e282ac e282ac e282ac c3bc f09f9880 e282ac 41 e282ac 41 42 43 44 45"),
        Row("continuation alone", "41 80", valid: 1), Row("C0", "c080", valid: 0),
        Row("C1", "41 c1bf", valid: 1), Row("overlong of three", "e09fbf", valid: 1),
        Row("overlong of four", "f08fbfbf", valid: 1),
        Row("surrogate", "eda080", valid: 1),
        Row("above U+10FFFF", "f4908080", valid: 1), Row("F5", "f5", valid: 0),
        Row("FF", "61 ff", valid: 1),
        Row("broken in its second byte", "e282ac e228ac 41 41", valid: 4),
        Row("broken in its third byte", "e282ac e28228 41 41", valid: 5),
        Row("broken in its fourth byte", "f09f98 41", valid: 3),
        Row("two bytes and a half", "c3bc c3", isComplete: false),
        Row("open", "f09f98", isComplete: false), Row("open in three", "e282", isComplete: false),
    ]

    @Test(arguments: rows)
    func takes(row: Row) {
        for cut in 0...row.bytes.count {
            // Shifted, so that each byte comes to each place in a word.
            for shift in [0, 1, 2, 3, 5, 7, 29, 31, 64] {
                let shifted = [UInt8](repeating: 0x61, count: shift) + row.bytes
                var machine = UTF8Machine()
                let first = machine.take(shifted.span.extracting(0..<shift + cut))
                guard first == shift + cut else {
                    #expect(first == shift + row.valid)
                    continue
                }
                let second = machine.take(shifted.span.extracting((shift + cut)...))
                #expect(first + second == shift + row.valid)
                if row.valid == row.bytes.count { #expect(machine.isComplete == row.isComplete) }
            }
        }
    }

    /// Against the standard library, on bytes that are likely in characters.
    @Test func agreesWithTheStandardLibrary() {
        let likely = hex("41 61 80 8f 90 9f a0 bf c1 c2 c3 df e0 e2 ed ee ef f0 f1 f4 f5 ff")
        var generator = SeededGenerator(state: 11)
        var sound = 0
        var disagreed: [[UInt8]] = []
        for _ in 0..<60_000 {
            let count = Int.random(in: 0...9, using: &generator)
            let bytes = (0..<count).map { _ in
                likely[Int.random(in: 0..<likely.count, using: &generator)]
            }
            var machine = UTF8Machine()
            let isWhole = machine.take(bytes.span) == bytes.count && machine.isComplete
            if isWhole != (String(validating: bytes, as: UTF8.self) != nil) {
                disagreed.append(bytes)
            }
            if isWhole { sound += 1 }
        }
        #expect(disagreed == [])
        #expect(sound > 1000)
    }
}
