import Base
import HTTPClient
import Recording
import Sockets
import Testing
import Transfer

/// The example of the documentation, which has to compile and to work.
struct ExampleTests {
    @Test func fetches() async throws {
        let folder = try TransferFolder()
        let file = folder.path + "/file"
        let state = try await Laboratory().run { bench in
            try await fetch(bench.origin + "/assets/7/100k", to: file, in: folder.path + "/tasks")
        }
        #expect(state == .completed)
        #expect(try Files.read(file) == (try await held("/assets/7/100k")))
    }

    @Test func isTheOneOfTheDocumentation() throws {
        let parts = #filePath.split(separator: "/").dropLast(4)
        let root = "/" + parts.joined(separator: "/")
        let page = try Files.read(root + "/Documentation/transfer.md").text
        let source = try Files.read(#filePath).text
        let start = try #require(source.split(separator: "// The example\n").last)
        #expect(start.split(separator: "\n").count <= 22)
        #expect(page.contains("```swift\n" + start + "```"))
    }
}

// The example
func fetch(_ url: String, to file: String, in folder: String) async throws -> TransferState? {
    let loop = try EventLoop(index: 0)
    startThread(named: "transfers") { loop.run() }
    defer { loop.stop() }
    return try await withTaskExecutorPreference(loop) {
        let network = TrustingNetwork(on: loop) { configuration in
            HTTPClient(configuration, on: loop, recorder: TrafficRecorder(sink: nil))
        }
        let service = try TransferService(
            TransferConfiguration(folder: folder), on: loop, network: network)
        return try await network.run {
            try await service.run {
                let task = try service.enqueue(TransferPlan(.download, url, file: file))
                try service.resume(task.identifier)
                return await service.wait(for: task.identifier)?.state
            }
        }
    }
}
