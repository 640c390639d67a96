import Base
import Runs
import Testing
import Transfer

@testable import Presentation

struct TransferTextTests {
    private static func task(_ state: TransferState) -> TransferTask {
        var task = TransferTask(
            TransferPlan(
                .download, "https://example.org/a?access_token=pa55word1234567890", file: "/a"),
            identifier: "1b4e28ba-2fa1-41d2-883f-0016d3cca427",
            createdAt: Timestamp(microseconds: 0))
        task.state = state
        task.committed = 1 << 20
        return task
    }

    private static let failure = Failure(
        "origin-status", party: .origin,
        "https://example.org/a?access_token=pa55word1234567890: it said 404")

    @Test(arguments: [
        TransferState.completed, .failed(failure), .running,
        .waiting(TransferWait(.retry, failure)),
    ])
    func secretsOfURLsAreNotShown(_ state: TransferState) {
        let task = Self.task(state)
        #expect(!task.shownRow.text.contains("pa55word"))
        #expect(!task.endingText.contains("pa55word"))
        #expect(task.shownRow.text.contains("https://example.org/a"))
    }

    @Test(arguments: [
        (TransferState.completed, "/a: 1m"),
        (.cancelled, "1b4e28ba-2fa1-41d2-883f-0016d3cca427 cancelled"),
        (
            .waiting(TransferWait(.authentication)),
            "1b4e28ba-2fa1-41d2-883f-0016d3cca427 waiting: authentication"
        ),
    ])
    func saysHowItStands(_ state: TransferState, _ text: String) {
        #expect(Self.task(state).endingText == text)
    }

    @Test(arguments: [
        (TransferState.suspended, true), (.waiting(TransferWait(.authentication)), true),
        (.waiting(TransferWait(.retry)), false), (.running, false), (.completed, false),
    ])
    func knowsWhatTakesItsOwner(_ state: TransferState, _ needsOwner: Bool) {
        #expect(Self.task(state).needsOwner == needsOwner)
    }

    @Test func saysWhenItIsTriedAgain() {
        let until = Timestamp(microseconds: 1_700_000_000_000_000)
        let task = Self.task(.waiting(TransferWait(.retry, until: until, Self.failure)))
        #expect(task.retryText == "22:13:20 UTC")
        #expect(Self.task(.running).retryText == nil)
    }

    @Test func tellsRateAndTimeLeft() {
        var task = Self.task(.running)
        #expect(task.paceText == nil)
        (task.total, task.rate) = (3 << 20, 1 << 20)
        #expect(task.paceText == "1m/s 2s left")
        task.total = nil
        #expect(task.paceText == "1m/s")
    }
}
