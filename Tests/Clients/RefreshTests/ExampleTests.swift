import Base
import ContentServer
import HTTPClient
import Recording
import Sockets
import Testing

@testable import Refresh

/// The example of `Documentation/fetch.md`: it is built, it runs, and the page has it word by word.
struct ExampleTests {
    @Test func fetchesAFeed() async throws {
        let told = try await withLaboratory { laboratory in
            try await Self.fetch(
                "\(laboratory.origin)/feeds/json/news?steps=new,none&media=1",
                into: "\(laboratory.folder)/news", laboratory.loop, laboratory.handover)
        }
        #expect(told == ["11 new, 11 files for later", "0 new, 0 files for later"])
    }

    @Test func standsInTheDocumentation() throws {
        let here = #filePath.split(separator: "/")
        let root = "/" + here.dropLast(4).joined(separator: "/")
        let page = try Files.read("\(root)/Documentation/fetch.md").text
        let source = try Files.read(#filePath).text
        let begin = try #require(source.firstRange(of: "// begin\n"))
        let end = try #require(source.firstRange(of: "    // end\n"))
        let lines = source[begin.upperBound..<end.lowerBound].split(
            separator: "\n", omittingEmptySubsequences: false
        ).map { $0.hasPrefix("    ") ? String($0.dropFirst(4)) : String($0) }
        #expect(lines.count - 1 <= 20)
        #expect(page.contains(lines.joined(separator: "\n")))
    }

    // begin
    static func fetch(
        _ url: String, into folder: String, _ loop: EventLoop, _ transfers: any AssetHandover
    ) async throws -> [String] {
        let client = HTTPClient(
            ClientConfiguration(), on: loop, recorder: TrafficRecorder(sink: NoTraffic()))
        return try await client.run {
            let store = try RefreshStore(folder: folder)
            let refresher = FeedRefresher(client, store, handover: transfers)
            var told: [String] = []
            for minute in 0..<2 as Range<Int64> {
                var request = FeedRefresher.Request(url, at: minute * 60_000)
                request.isInBackground = minute > 0
                let report = await refresher.refresh(request)
                if let failure = report.failure { throw failure }
                told.append("\(report.items.count) new, \(report.handedCount) files for later")
            }
            return told
        }
    }
    // end
}
