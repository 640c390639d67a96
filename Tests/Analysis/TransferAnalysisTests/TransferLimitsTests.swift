import Testing

@testable import TransferAnalysis

struct TransferLimitsTests {
    private func limits(_ change: (inout TransferLimits) -> Void) -> TransferLimits {
        var limits = TransferLimits()
        change(&limits)
        return limits
    }

    private func cut(_ name: Int) -> Step {
        Step("GET /\(name)", "", "200\nContent-Length: 4\nETag: \"1\"", "ab", error: "x")
    }

    private func rest(_ name: Int) -> Step {
        Step(
            "GET /\(name)\nRange: bytes=2-", "", "206\nContent-Range: bytes 2-3/4\nETag: \"1\"",
            "cd")
    }

    @Test func letsTheOldestGo() throws {
        let steps = (0..<9).map(cut) + (0..<9).map(rest)
        let stories = try Scenario(steps).transfers(limits { $0.openTransfers = 8 })
        #expect(stories.first?.story == "1 partial: 2/4 missing 2-3 {evicted}")
        #expect(stories.count { $0.state == .complete } < 9)
        #expect(stories.map(\.parts.count).reduce(0, +) == 18)
    }

    @Test func letsGoFirstWhatIsComplete() throws {
        let whole = (10..<18).map {
            Step("GET /\($0)", "", "200\nContent-Length: 2\nETag: \"1\"", "ab")
        }
        let steps = [cut(0)] + whole + [rest(0)]
        let transfers = try Scenario(steps).transfers(limits { $0.openTransfers = 4 })
        #expect(transfers.map(\.story) == ["1,10 complete: 4/4 strong-etag"])
    }

    @Test func countsPartsBeyondTheLimit() throws {
        let steps = [cut(0)] + (0..<20).map { _ in rest(0) }
        let transfer = try #require(
            try Scenario(steps).transfers(limits { $0.parts = 5 }).first)
        #expect(transfer.parts.count == 5)
        #expect(transfer.leftOut == 16)
        #expect(transfer.state == .complete)
    }

    @Test func boundsOpenParts() throws {
        let steps = (0..<5).flatMap { name in [cut(name)] + (0..<20).map { _ in rest(name) } }
        let transfers = try Scenario(steps).transfers(limits { $0.openParts = 60 })
        #expect(transfers.map(\.parts.count).reduce(0, +) == steps.count)
        #expect(transfers.count >= 5)
    }

    @Test func boundsVersions() throws {
        let steps = (0..<20).map {
            Step(
                "GET /0\nRange: bytes=0-1", "",
                "206\nContent-Range: bytes 0-1/4\nETag: \"\($0)\"", "ab")
        }
        let transfer = try #require(
            try Scenario(steps).transfers(limits { $0.versions = 3 }).first)
        #expect(transfer.versions.count == 3)
        #expect(transfer.notes.contains { $0.code == .tooManyVersions })
    }

    @Test func boundsWhatIsCompared() throws {
        let steps = [cut(0), rest(0), rest(0)]
        let transfer = try #require(
            try Scenario(steps).transfers(limits { $0.comparedBytes = 1 }).first)
        #expect(transfer.notes.map(\.code) == [.notCompared])
    }

    @Test func boundsStretches() throws {
        let steps = (0..<20).map {
            Step(
                "GET /0\nRange: bytes=\($0 * 2)-\($0 * 2)", "",
                "206\nContent-Range: bytes \($0 * 2)-\($0 * 2)/100", "a")
        }
        let transfer = try #require(
            try Scenario(steps).transfers(limits { $0.stretches = 4 }).first)
        #expect(transfer.current.held.count == 4)
        #expect(transfer.notes.map(\.code) == [.tooManyParts])
    }

    /// Heads without sense, cut at every offset: nothing traps.
    @Test func survivesAnything() throws {
        let head = Array(
            "206\nContent-Range: bytes 2-3/4\nETag: \"1\"\nContent-Length: 2\nDigest: md5=A=="
                .utf8)
        for end in 3...head.count {
            let text = String(decoding: head[..<end], as: UTF8.self)
            _ = try Scenario([
                cut(0), Step("GET /0\nRange: bytes=2-", "", text, "cd"),
                Step("PUT /0?uploadId=&partNumber=x", "", text, ""),
                Step("PATCH /0\nUpload-Offset: \(text.dropFirst(30))", "ab", text),
                Step("HEAD", "", text), Step("GET ?#", "", text, "x"),
            ]).transfers()
        }
    }
}
