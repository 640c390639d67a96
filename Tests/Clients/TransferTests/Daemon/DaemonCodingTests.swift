import Base
import Testing

@testable import Transfer

/// Requests and replies are the same once they were written and read.
struct DaemonCodingTests {
    static let plan: TransferPlan = {
        var plan = TransferPlan(.download, "https://example.org/a", file: "/tmp/a", session: "s")
        plan.options.isDiscretionary = true
        plan.options.priority = 3
        plan.options.credential = "/home/me/login"
        plan.options.expected = ExpectedDigest(.sha256, [UInt8](repeating: 7, count: 32))
        return plan
    }()

    static let requests: [DaemonRequest] = [
        .list(session: nil), .list(session: "s"), .show("1"), .add(plan), .resume("1"),
        .suspend("1"), .cancel("1"), .acknowledge("1", event: nil), .acknowledge("1", event: 3),
        .follow("1"), .watch(session: "s"), .stop,
    ]

    @Test(arguments: requests)
    func requestIsKept(_ request: DaemonRequest) throws {
        #expect(try DaemonRequest(line: request.line) == request)
    }

    static func task(_ state: TransferState) -> TransferTask {
        var plan = TransferPlan(.download, "https://example.org/\u{1B}[31m\"", session: "s")
        plan.options.allowsCellular = false
        var task = TransferTask(
            plan, identifier: "1b4e28ba-2fa1-41d2-883f-0016d3cca427",
            createdAt: Timestamp(microseconds: 1_780_000_000_123_456))
        task.state = state
        task.committed = 17
        task.total = 4096
        task.rate = 12
        task.hops = ["https://example.org/b"]
        task.restarts = ["changed"]
        task.requestCount = 2
        task.digest = [1, 2, 3]
        task.path = "/tmp/a"
        return task
    }

    static let failure = Failure("origin-status", party: .origin, "it said 404", hint: "look")

    static let states: [TransferState] = [
        .suspended, .running, .verifying, .completed, .cancelled, .failed(failure),
        .waiting(TransferWait(.queue)),
        .waiting(
            TransferWait(.retry, until: Timestamp(microseconds: 1_780_000_009_000_001), failure)),
    ]

    @Test(arguments: states)
    func taskIsKept(_ state: TransferState) throws {
        let task = Self.task(state)
        let line = DaemonReply.task(task).line
        #expect(DaemonReply(line: line) == .task(task))
    }

    @Test(arguments: [
        DaemonReply.ready(processID: 7), .ready(processID: 7, proxies: "ab"),
        .ready(processID: 7), .done,
        .failed(failure),
        .event(TransferEvent(number: 0, .progress, task(.running))),
        .event(TransferEvent(number: 1, .completed, task(.completed))),
        .event(TransferEvent(number: 2, .failed(failure), task(.failed(failure)))),
        .event(
            TransferEvent(
                number: 3, .authentication(schemes: ["basic"], host: "example.org"),
                task(.running))),
    ])
    func replyIsKept(_ reply: DaemonReply) {
        #expect(DaemonReply(line: reply.line) == reply)
    }

    @Test func aRowHoldsNoCredential() {
        let task = TransferTask(
            Self.plan, identifier: "1", createdAt: Timestamp(microseconds: 0))
        #expect(!task.row.line.text.contains("login"))
    }

    @Test func whatIsTooLongIsToldShorter() throws {
        var task = Self.task(
            .failed(Failure("x", party: .origin, String(repeating: "d", count: 9000))))
        task.hops = (0..<64).map {
            "https://example.org/\($0)/" + String(repeating: "h", count: 4000)
        }
        let reply = DaemonReply(line: DaemonReply.task(task).line)
        guard case .task(let told) = reply else {
            Issue.record("\(String(describing: reply))")
            return
        }
        #expect(told == task.shortened)
        let plan = TransferPlan(.download, "https://" + String(repeating: "u", count: 70_000))
        let long = TransferTask(plan, identifier: "1", createdAt: Timestamp(microseconds: 0))
        guard case .failed(let failure) = DaemonReply(line: DaemonReply.task(long).line) else {
            Issue.record("told in full")
            return
        }
        #expect(failure.code == "reply-too-long")
    }

    /// A watch that an event has ended would be ended by it again.
    @Test func anEventIsToldWhateverIsInIt() throws {
        let long = String(repeating: "a\u{301}", count: 40_000)
        let plan = TransferPlan(.download, "https://" + long, file: "/" + long, session: "s")
        let failure = Failure("x", party: .origin, "b" + long)
        let kinds: [TransferEvent.Kind] = [
            .progress, .completed, .failed(failure),
            .authentication(
                schemes: Array(repeating: "a", count: 16_000) + [long], host: "h" + long),
        ]
        for kind in kinds {
            var task = TransferTask(
                plan, identifier: "1", createdAt: Timestamp(microseconds: 0))
            task.path = plan.file
            if case .failed = kind { task.state = .failed(failure) }
            let reply = DaemonReply(
                line: DaemonReply.event(TransferEvent(number: 4, kind, task)).line)
            guard case .event(let told) = reply else {
                Issue.record("\(kind.name) is told as \(String(describing: reply).prefix(100))")
                continue
            }
            #expect(told.number == 4 && told.kind.name == kind.name)
            #expect(told.task.identifier == "1" && told.task.session == "s")
            #expect(told.task.file == nil && told.task.path == nil)
        }
    }
}
