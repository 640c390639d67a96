import Testing

@testable import Refresh

/// Times are in seconds, the gap is 30 of them.
struct ForegroundMachineTests {
    private enum Step {
        case user
        case push
        case endUser
        case endPush
        case pass
    }

    private static let rows: [(String, [(Int64, Step)], [String])] = [
        ("a push at once", [(1, .push)], ["push 1"]),
        ("a user at once", [(1, .user)], ["user 1"]),
        (
            "one under way and one wanted, of however many",
            [(1, .push), (2, .push), (3, .push), (4, .endPush), (33, .pass), (34, .pass)],
            ["push 1", "push 34"]
        ),
        (
            "a gap behind the last",
            [(1, .push), (2, .endPush), (3, .push), (31, .pass), (32, .pass)],
            ["push 1", "push 32"]
        ),
        (
            "no gap for who waits",
            [(1, .push), (2, .endPush), (3, .user), (4, .endUser), (5, .user)],
            ["push 1", "user 3", "user 5"]
        ),
        (
            "a user beside a push", [(1, .push), (2, .user), (3, .user), (4, .endUser)],
            ["push 1", "user 2", "user 4"]
        ),
        (
            "what a push announced comes with what a user wants",
            [(1, .push), (2, .endPush), (3, .push), (4, .user), (5, .endUser), (90, .pass)],
            ["push 1", "user 4"]
        ),
    ]

    @Test(arguments: rows.indices)
    func begins(_ index: Int) {
        let (name, steps, expected) = Self.rows[index]
        var machine = ForegroundMachine(gap: 30)
        let user = ForegroundMachine.Fetch(app: "news", cause: .user)
        let push = ForegroundMachine.Fetch(app: "news", cause: .push)
        var begun: [String] = []
        for (at, step) in steps {
            switch step {
            case .user: machine.want(user)
            case .push: machine.want(push)
            case .endUser: machine.end(user, at: at)
            case .endPush: machine.end(push, at: at)
            case .pass: break
            }
            begun += machine.begin(at: at).map { "\($0.cause) \(at)" }
        }
        #expect(begun == expected, "\(name)")
    }

    /// Apps wait for nobody else's.
    @Test func keepsAppsApart() {
        var machine = ForegroundMachine(gap: 30)
        for app in ["news", "mail", "news"] { machine.want(.init(app: app, cause: .push)) }
        #expect(machine.nextTime ?? 0 <= 1)
        #expect(machine.begin(at: 1).map(\.app) == ["mail", "news"])
        #expect(machine.nextTime == nil)
        machine.end(.init(app: "mail", cause: .push), at: 2)
        #expect(machine.nextTime == nil)
        machine.want(.init(app: "mail", cause: .push))
        #expect(machine.nextTime == 32)
    }
}
