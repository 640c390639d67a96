import Base
import Testing

@testable import Launching

struct StopMachineTests {
    @Test(arguments: Row.all) func answers(_ row: Row) {
        var machine = StopMachine()
        // The clock of a machine that was just started.
        let actions = row.milliseconds.map { milliseconds in
            machine.take(at: MonotonicTime(nanoseconds: milliseconds * 1_000_000))
        }
        #expect(actions == row.actions)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let milliseconds: [UInt64]
        let actions: [StopMachine.Action]

        var testDescription: String { name }

        static let all = [
            Row(name: "one", milliseconds: [0], actions: [.stop]),
            Row(name: "a command and its group", milliseconds: [5, 5], actions: [.stop, .none]),
            Row(
                name: "told of in the wrong order", milliseconds: [5, 4], actions: [.stop, .none]),
            Row(
                name: "a wish of its own", milliseconds: [5, 1_005, 2_005],
                actions: [.stop, .insist, .leave]),
            Row(
                name: "each told twice", milliseconds: [5, 6, 1_200, 1_201, 2_300, 2_301],
                actions: [.stop, .none, .insist, .none, .leave, .none]),
            Row(
                name: "impatience", milliseconds: [0, 400, 800, 1_200, 1_600, 2_000, 2_400],
                actions: [.stop, .none, .none, .insist, .none, .none, .leave]),
        ]
    }
}
