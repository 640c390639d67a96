import Testing

@testable import Filters

struct ByteSetTests {
    @Test func holdsWhatWasPutIn() {
        for byte in UInt8.min...UInt8.max {
            let set = ByteSet(byte...byte)
            #expect((UInt8.min...UInt8.max).filter(set.contains) == [byte])
            #expect(
                (UInt8.min...UInt8.max).filter(ByteSet.all.subtracting(set).contains).count == 255)
        }
        #expect(ByteSet.letters.ignoringCase == .letters)
        #expect(ByteSet(0x41...0x5A).ignoringCase == .letters)
        #expect(ByteSet.digits.ignoringCase == .digits)
        #expect(ByteSet.word.union(.spaces).contains(0x20))
    }

    @Test func classesAreWhatNoStepTellsApart() throws {
        let program = try PatternProgram(PatternReader.read("[a-m]x|\\d[^k]"))
        let sets = program.steps.compactMap { step in
            if case .byte(let set, _) = step { set } else { nil }
        }
        for left in UInt8.min...UInt8.max {
            let example = program.examples[Int(program.classes[Int(left)])]
            for set in sets { #expect(set.contains(left) == set.contains(example)) }
        }
        #expect(program.examples.count < 20)
    }
}
