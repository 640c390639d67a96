import Base
import TestConditions
import Testing
import Traffic

@testable import Replay

/// What a client says in a recorded dialogue is compared with what it said then, and the origin's
/// part is played in any case.
struct SegmentDialogueTests {
    @Test(arguments: rows)
    func isCompared(_ row: DialogueRow) {
        var script = DialogueScript()
        let source = MemorySource()
        for turn in row.recorded {
            let isOrigin = turn.hasPrefix("<")
            source.add(isOrigin ? .response : .request, .segment, [UInt8](turn.dropFirst().utf8))
        }
        for message in source.messageRecords { script.add(message) }
        let clock = StandingClock()
        var options = clock.options(0)
        options.rules = row.rules
        let dialogue = SegmentDialogue(script, with: "mail.test:25", options)
        var told: [String] = []
        var misses: [String] = []
        for word in row.live + [nil] {
            if let word {
                if word.hasPrefix("wait ") {
                    clock.pass(UInt64(word.dropFirst(5)) ?? 0)
                } else {
                    dialogue.receive([UInt8](word.utf8).span)
                }
            } else {
                dialogue.noteEnd()
            }
            while true {
                let step = dialogue.next()
                if let miss = dialogue.takeMiss() { misses.append(miss.detail) }
                guard case .send(let bytes) = step else {
                    if case .end = step, told.last != "end" { told.append("end") }
                    break
                }
                told.append(String(decoding: bytes, as: UTF8.self))
            }
            if let miss = dialogue.takeMiss() { misses.append(miss.detail) }
        }
        #expect(told == row.told)
        #expect(misses == row.difference.map { ["tcp://mail.test:25: " + $0] } ?? [])
    }

    @Test func toldWithTheRuleThatAllowsIt() {
        let miss = ReplayMiss("the client's line 2 is not as recorded", in: "mail.test:25")
        #expect(miss.rules.map(\.text) == ["ignore at mail.test:25 body"])
        #expect(miss.hint.contains("'ignore at mail.test:25 body'"))
    }
}

struct DialogueRow: CustomTestStringConvertible, Sendable {
    let name: String
    /// `<` is the origin's word, `>` the client's.
    let recorded: [String]
    /// What the client says now; `wait N` is a silence of so many milliseconds.
    let live: [String]
    let told: [String]
    var difference: String?
    var rules = ReplayRules()

    var testDescription: String { name }
}

private let mail = [
    "<220 hi\r\n", ">EHLO a\r\n", "<250 a\r\n", ">AUTH PLAIN AGpvZQBzM2NyZXQ=\r\n",
    "<235 ok\r\n", ">QUIT\r\n", "<221 bye\r\n",
]
private let bytes = ["<hello", ">12345", "<world", ">678"]

private let rows: [DialogueRow] = [
    DialogueRow(
        name: "as recorded, in pieces", recorded: mail,
        live: ["EHLO", " a\r\n", "AUTH PLAIN AGpvZQBzM2NyZXQ=\r\n", "QUIT\r\n"],
        told: ["220 hi\r\n", "250 a\r\n", "235 ok\r\n", "221 bye\r\n", "end"]),
    DialogueRow(
        name: "from another machine", recorded: mail,
        live: ["ehlo somebody.else\r\n", "AUTH PLAIN AGpvZQBzM2NyZXQ=\r\nQUIT\r\n"],
        told: ["220 hi\r\n", "250 a\r\n", "235 ok\r\n", "221 bye\r\n", "end"]),
    DialogueRow(
        name: "another password of the same length", recorded: mail,
        live: ["EHLO a\r\n", "AUTH PLAIN AGpvZQBXcm9uZyE=\r\n", "QUIT\r\n"],
        told: ["220 hi\r\n", "250 a\r\n", "235 ok\r\n", "221 bye\r\n", "end"],
        difference: "the client's line 2 (AUTH) is not as recorded: 27 bytes, 27 then"),
    DialogueRow(
        name: "the first difference alone", recorded: mail,
        live: ["EHLO a\r\n", "AUTH LOGIN\r\n", "RSET\r\n"],
        told: ["220 hi\r\n", "250 a\r\n", "235 ok\r\n", "221 bye\r\n", "end"],
        difference: "the client's line 2 (AUTH) is not as recorded: 10 bytes, 27 then"),
    DialogueRow(
        name: "where it may differ", recorded: mail,
        live: ["EHLO a\r\n", "AUTH LOGIN\r\n", "QUIT\r\n"],
        told: ["220 hi\r\n", "250 a\r\n", "235 ok\r\n", "221 bye\r\n", "end"],
        rules: ReplayRules([
            ReplayRule(.ignore, .request, .body(""), at: RuleScope("mail.test"))
        ])),
    DialogueRow(
        name: "tags that the client makes up",
        recorded: [
            "<* OK\r\n", ">A1 LOGIN joe x\r\n", "<* CAP\r\nA1 OK in\r\n", ">A2 LOGOUT\r\n",
            "<* BYE\r\nA2 OK\r\n",
        ],
        live: ["Q7 LOGIN joe x\r\n", "Q8 LOGOUT\r\n"],
        told: ["* OK\r\n", "* CAP\r\nQ7 OK in\r\n", "* BYE\r\nQ8 OK\r\n", "end"]),
    DialogueRow(
        name: "other bytes", recorded: bytes, live: ["12x45"], told: ["hello", "world", "end"],
        difference: "the client's byte 2 is not as recorded"),
    DialogueRow(
        name: "other bytes later", recorded: bytes, live: ["12345", "67", "wait 10000", "9"],
        told: ["hello", "world", "end"], difference: "the client's byte 7 is not as recorded"),
    DialogueRow(
        name: "less than recorded", recorded: bytes, live: ["123", "wait 14999", "wait 1"],
        told: ["hello", "end"],
        difference: "the client falls silent in the middle of what was recorded at byte 0"),
    DialogueRow(
        name: "less, and something else", recorded: bytes, live: ["x", "wait 2000"],
        told: ["hello", "end"],
        difference: "the client falls silent in the middle of what was recorded at byte 0"),
    DialogueRow(
        name: "fewer lines", recorded: ["<hi\n", ">a\nb\n", "<ok\n"],
        live: ["a\n", "wait 15000"], told: ["hi\n", "end"],
        difference: "the client falls silent in the middle of line 1"),
    DialogueRow(
        name: "gone in the middle", recorded: bytes, live: ["123"], told: ["hello", "end"],
        difference: "the client ends in the middle of what was recorded at byte 0"),
    DialogueRow(
        name: "gone before", recorded: bytes, live: ["12345"], told: ["hello", "world", "end"]),
    DialogueRow(
        name: "more than recorded", recorded: bytes, live: ["12345", "678", "9"],
        told: ["hello", "world", "end"], difference: "the client says more than was recorded"),
    DialogueRow(
        name: "more behind the end", recorded: mail,
        live: ["EHLO a\r\nAUTH PLAIN AGpvZQBzM2NyZXQ=\r\nQUIT\r\n", "NOOP\r\n"],
        told: ["220 hi\r\n", "250 a\r\n", "235 ok\r\n", "221 bye\r\n", "end"],
        difference: "the client says more than was recorded"),
]
