import Foundation
import Testing

/// Everything in this target takes turns: each test is a handful of processes.
@Suite(.serialized)
struct RealClientTests {}

extension RealClientTests {
    /// What real clients fetch and send through the proxy, and what the capture then holds.
    struct TransferTests {
        @Test(.needs(.bash, .curl)) func curl() async throws {
            try await transfer(with: .curl)
        }

        @Test(.needs(.bash, .wget)) func wget() async throws {
            try await transfer(with: .wget)
        }

        @Test(.needs(.python)) func urllib() async throws {
            try await transfer(with: .urllib)
        }

        @Test(.needs(.python)) func requests() async throws {
            try await transfer(with: .requests)
        }

        @Test(.needs(.node, .nodeAgent)) func node() async throws {
            try await transfer(with: .node)
        }

        @Test(.needs(.java)) func java() async throws {
            try await transfer(with: .java)
        }

        private func transfer(with client: RealClient) async throws {
            let origin = try await Origin()
            let folder = try Folder()
            let proxy = try await ProxyProcess(for: origin, in: folder)
            let upload = try folder.write("upload.bin", Bytes.random(3_000_000))
            let program = try client.start(
                at: origin.url, by: proxy.url, trusting: proxy.authorityPath, into: folder,
                upload: upload, names: Origin.names)
            let code = try await program.end()
            try #require(code == 0, "\(program.story)")
            try await proxy.end()

            try await expectFetched(from: origin, into: folder, recordedIn: proxy.capture)
            try await expectUploaded(upload, to: origin, recordedIn: proxy.capture)
            for connection in try await proxy.capture.connections() {
                #expect(connection.outcome == "completed", "\(connection)")
            }
        }
    }
}

/// Expects that a client has every file of the origin, and the capture the same content once.
private func expectFetched(
    from origin: Origin, into folder: Folder, recordedIn capture: Capture
) async throws {
    let flows = try await capture.flows(filter: "method=GET")
    #expect(flows.map(\.url) == Origin.names.map { "\(origin.url)/\($0)" })
    var served: [String] = []
    var fetched: [String] = []
    var recorded: [String] = []
    for (name, flow) in zip(Origin.names, flows) {
        #expect(flow.status == 200 && flow.error == nil, "\(flow)")
        let isCompressed = name == Origin.compressedName
        let part = try await capture.show(
            flow.id, "response-body", isCompressed ? ["--decoded"] : [])
        served.append(origin.path(of: name))
        fetched.append(folder.path("fetched/\(name.split(separator: "/").last ?? "")"))
        recorded.append(try folder.write("recorded/\(name)", part))
        if isCompressed {
            #expect(flow.responseBytes < part.count, "it was not compressed: \(flow)")
        } else {
            #expect(flow.responseBytes == part.count, "\(flow)")
        }
    }
    let expected = try await Digests.of(served, in: folder)
    #expect(expected.count == Origin.names.count)
    #expect(try await Digests.of(fetched, in: folder) == expected)
    #expect(try await Digests.of(recorded, in: folder) == expected)
}

/// Expects that the origin got a file that a client sent, and the capture the same content.
private func expectUploaded(
    _ path: String, to origin: Origin, recordedIn capture: Capture
) async throws {
    let flows = try await capture.flows(filter: "method=PUT")
    try #require(flows.count == 1)
    #expect(flows[0].status == 201 && flows[0].error == nil, "\(flows[0])")
    #expect(flows[0].requestBytes == 3_000_000, "\(flows[0])")
    let folder = capture.folder
    let recorded = try folder.write(
        "recorded/upload", await capture.show(flows[0].id, "request-body"))
    let digests = try await Digests.of(
        [path, origin.uploadPath("upload.bin"), recorded], in: folder)
    #expect(digests.count == 3 && Set(digests).count == 1, "\(digests)")
}
