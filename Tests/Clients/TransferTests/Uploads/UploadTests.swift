import Base
import ContentServer
import Contents
import HTTPClient
import HTTPModel
import Origins
import Synchronization
import TLS
import Testing

@testable import Transfer

/// Uploads in each dialect, to the content server.
@Suite(.serialized) struct UploadTests {
    private static let bytes = Laboratory.Bench.content(7, size: 300_000)
    private static let digest = Digests.sha256(bytes).hex

    private static func laboratory(_ leg: UploadLeg, _ rules: String = "") -> Laboratory {
        var laboratory = Laboratory()
        laboratory.http = leg.http
        laboratory.scenario = rules
        laboratory.disk = MemoryDisk()
        return laboratory
    }

    @Test(arguments: UploadLeg.all) func whole(_ leg: UploadLeg) async throws {
        try await Self.laboratory(leg).run { bench in
            let task = try await bench.send(Self.bytes, leg.way)
            #expect(task.state == .completed)
            #expect(task.committed == 300_000 && task.total == 300_000)
            #expect(task.digest?.hex == Self.digest)
            #expect(task.path?.hasPrefix(bench.origin + "/uploads") ?? false)
            #expect(try bench.uploaded() == [Self.digest], "\(bench.requests)")
            #expect(try bench.uploadCount() == 1)
        }
    }

    @Test(arguments: UploadLeg.all, [0, 1]) func small(_ leg: UploadLeg, size: Int) async throws {
        let bytes = [UInt8](repeating: 9, count: size)
        try await Self.laboratory(leg).run { bench in
            let task = try await bench.send(bytes, leg.way)
            #expect(task.state == .completed, "\(bench.requests)")
            #expect(try await bench.digested() == [Digests.sha256(bytes).hex])
        }
    }

    /// The server tells again and again how far it is, and not more often than a client listens.
    @Test(arguments: [ClientVersions.http1, .http2])
    func hearsOfProgress(_ http: ClientVersions) async throws {
        let bytes = Laboratory.Bench.content(9, size: 16 << 20)
        let leg = UploadLeg(way: UploadWay(mode: .automatic), http: http)
        var laboratory = Self.laboratory(leg)
        laboratory.uploadLimits.interval = 65_536
        try await laboratory.run { bench in
            let task = try await bench.send(bytes, leg.way)
            #expect(task.state == .completed && task.requestCount == 1)
            #expect(try bench.uploaded() == [Digests.sha256(bytes).hex])
        }
    }

    /// The server breaks off, once.
    @Test(arguments: UploadLeg.all, [1, 65_536, 100_000, 299_999])
    func cut(_ leg: UploadLeg, offset: Int) async throws {
        let ending = offset % 2 == 0 ? "rst" : "fin"
        let rule = Laboratory.rule(
            "upload-cut:\(offset):\(ending)", "reaches = \(offset)", "turn = first")
        try await Self.laboratory(leg, rule).run { bench in
            let task = try await bench.send(Self.bytes, leg.way)
            if !leg.way.isSafe, task.state != .completed {
                #expect(task.failureCode == "upload-uncertain")
                #expect(try bench.uploaded().isEmpty)
                return
            }
            #expect(leg.way.isSafe || leg.way.mode == .automatic)
            #expect(task.state == .completed, "\(bench.requests)")
            #expect(try await bench.digested() == [Self.digest])
            #expect(bench.requests.contains { $0.contains("upload-cut@") })
            guard leg.way.mode != .put else { return }
            // It went on where it was.
            #expect(task.restarts.isEmpty, "\(task.restarts)")
            // What has a checksum counts as a whole.
            guard leg.way.mode != .tus else { return }
            let received = bench.content.journal.contents().records.reduce(0) { $0 + $1.received }
            #expect(received < 360_000 || offset == 299_999, "\(received) \(bench.requests)")
        }
    }

    /// It breaks off again and again, and nothing tells of the upload resource while it is made.
    @Test(arguments: UploadLeg.safe) func cutWithoutInterim(_ leg: UploadLeg) async throws {
        let cuts = [50_000, 120_000, 250_000].map { offset in
            Laboratory.rule(
                "no-interim|upload-cut:\(offset):rst", "reaches = \(offset)", "turn = first")
        }
        let rules = cuts.joined() + Laboratory.rule("no-interim")
        try await Self.laboratory(leg, rules).run { bench in
            let task = try await bench.send(Self.bytes, leg.way)
            #expect(task.state == .completed, "\(bench.requests)")
            #expect(try await bench.digested() == [Self.digest])
        }
    }

    /// All came, and the answer is lost.
    @Test(arguments: UploadLeg.all) func answerLost(_ leg: UploadLeg) async throws {
        let rule = Laboratory.rule("cut:head:rst", "reaches = 300000", "turn = first")
        try await Self.laboratory(leg, rule).run { bench in
            let task = try await bench.send(Self.bytes, leg.way)
            let way = leg.way
            // 104 comes before the server has all of it, in time or not.
            guard way.isSafe else {
                #expect(task.failureCode == "upload-uncertain" || task.state == .completed)
                #expect(try bench.uploaded() == [Self.digest])
                return
            }
            #expect(task.state == .completed, "\(bench.requests)")
            #expect(try await Set(bench.digested()) == [Self.digest])
        }
    }

    /// What is said about the upload before it can be gone on with.
    struct Lie: CustomTestStringConvertible, Sendable {
        let name: String
        let rules: [String]
        let restart: String?
        var testDescription: String { name }
    }

    private static let cut = Laboratory.rule(
        "upload-cut:150000:rst", "reaches = 150000", "turn = first")

    private static let told: [Lie] = [
        Lie(
            name: "too little",
            rules: [
                Laboratory.rule("upload-offset:-1000", "method = HEAD", "turn = first"), cut,
            ], restart: nil),
        Lie(
            name: "beyond the end",
            rules: [
                Laboratory.rule("upload-offset:+900000", "method = HEAD", "turn = first"), cut,
            ], restart: "origin-violation: an offset beyond the end"),
        Lie(
            name: "forgotten",
            rules: [Laboratory.rule("status:404", "method = HEAD", "turn = first"), cut],
            restart: "upload-gone: 404"),
        Lie(
            name: "gone",
            rules: [Laboratory.rule("status:410", "method = HEAD", "turn = first"), cut],
            restart: "upload-gone: 410"),
        Lie(
            name: "lost",
            rules: [
                Laboratory.rule("upload-offset:-100000", "method = HEAD", "turn = nth 2"),
                Laboratory.rule("upload-cut:220000:rst", "reaches = 220000", "turn = nth 2"),
                cut,
            ], restart: "data-lost: 120000 bytes, and there were 150000"),
    ]

    @Test(arguments: UploadWay.resumable, told)
    func lies(_ way: UploadWay, _ lie: Lie) async throws {
        let leg = UploadLeg(way: way, http: .http1)
        try await Self.laboratory(leg, lie.rules.joined()).run { bench in
            let task = try await bench.send(Self.bytes, way)
            #expect(task.state == .completed, "\(bench.requests)")
            // tus begins with what has a checksum, and counts for nothing where it broke off.
            let isOther = way.mode == .tus && lie.name == "lost"
            #expect(
                isOther || task.restarts == (lie.restart.map { [$0] } ?? []), "\(bench.requests)")
            #expect(try bench.uploaded() == [Self.digest])
        }
    }

    /// What was not sent yet is not there either, whatever is told, in the next attempt too.
    @Test(arguments: [UploadWay(mode: .resumable), UploadWay(mode: .tus)])
    func liesOfWhatWasNotSent(_ way: UploadWay) async throws {
        let bytes = Laboratory.Bench.content(5, size: 24_000_000)
        let rules =
            Laboratory.rule("upload-offset:+15000000", "method = HEAD", "turn = first")
            + Laboratory.rule("upload-cut:2000000:rst", "reaches = 2000000", "turn = first")
        try await Self.laboratory(UploadLeg(way: way, http: .http1), rules).run { bench in
            let task = try await bench.send(bytes, way)
            #expect(task.state == .completed, "\(bench.requests)")
            #expect(task.restarts == ["origin-violation: an offset beyond what was sent"])
            #expect(try bench.uploaded() == [Digests.sha256(bytes).hex])
        }
    }

    /// A server that loses everything each time is given up.
    @Test func givesUpWhoForgets() async throws {
        let rules =
            Laboratory.rule("status:404", "method = HEAD")
            + Laboratory.rule("upload-cut:150000:rst", "reaches = 150000")
        let leg = UploadLeg(way: UploadWay(mode: .resumable), http: .http1)
        try await Self.laboratory(leg, rules).run { bench in
            let task = try await bench.send(Self.bytes, leg.way)
            #expect(task.failureCode == "upload-unstable", "\(task.state)")
            #expect(try bench.uploaded().isEmpty)
        }
    }

    // MARK: Refusals

    struct Refusal: CustomTestStringConvertible, Sendable {
        let fault: String
        var settings: [String] = []
        let way: UploadWay
        /// `nil` if it succeeds all the same.
        let code: String?
        var testDescription: String { "\(way.testDescription): \(fault)" }
    }

    @Test(arguments: [
        Refusal(fault: "status:413", way: UploadWay(mode: .put), code: "status-413"),
        Refusal(fault: "status:403", way: UploadWay(mode: .put), code: "status-403"),
        Refusal(fault: "status:404", way: UploadWay(mode: .automatic), code: "status-404"),
        Refusal(fault: "status:501", way: UploadWay(mode: .automatic), code: "status-501"),
        Refusal(fault: "status:503", way: UploadWay(mode: .automatic), code: "status-503"),
        Refusal(fault: "status:500", way: UploadWay(mode: .form), code: "upload-uncertain"),
        Refusal(
            fault: "status:503:2", settings: ["turn = first"], way: UploadWay(mode: .form),
            code: nil),
        Refusal(
            fault: "status:429:3", settings: ["turn = first"], way: UploadWay(mode: .form),
            code: nil),
        Refusal(
            fault: "status:500", settings: ["turn = first"], way: UploadWay(mode: .put), code: nil),
        Refusal(
            fault: "status:500", settings: ["turn = first", "method = PATCH"],
            way: UploadWay(mode: .tus), code: nil),
        Refusal(
            fault: "status:409", settings: ["turn = first", "method = PATCH"],
            way: UploadWay(mode: .resumable), code: nil),
        Refusal(
            fault: "status:400", settings: ["turn = first", "method = PATCH"],
            way: UploadWay(mode: .resumable), code: nil),
        Refusal(
            fault: "status:460", settings: ["turn = first", "method = PATCH"],
            way: UploadWay(mode: .tus), code: nil),
        Refusal(
            fault: "status:409", settings: ["method = PATCH"], way: UploadWay(mode: .resumable),
            code: "upload-stalled"),
        Refusal(
            fault: "status:501", settings: ["method = OPTIONS"], way: UploadWay(mode: .tus),
            code: nil),
        Refusal(fault: "status:200", way: UploadWay(mode: .resumable), code: "upload-unsupported"),
        Refusal(fault: "status:302", way: UploadWay(mode: .put), code: "redirect-drops-content"),
        Refusal(fault: "status:401", way: UploadWay(mode: .put), code: "login"),
    ])
    func refusals(_ row: Refusal) async throws {
        var laboratory = Laboratory()
        laboratory.scenario = Laboratory.rule(row.fault)
        for setting in row.settings {
            laboratory.scenario = laboratory.scenario.replacing(
                "fault =", with: setting + "\nfault =")
        }
        laboratory.disk = MemoryDisk()
        try await laboratory.run { bench in
            try Laboratory.Bench.put(Self.bytes, on: bench.disk)
            let plan = bench.uploadPlan(row.way)
            let task = try bench.service.enqueue(plan)
            try bench.service.resume(task.identifier)
            let ended = await bench.service.wait(for: task.identifier) { task in
                task.state.isFinal || task.wait?.reason == .authentication
            }
            let code = ended?.wait?.reason == .authentication ? "login" : ended?.failureCode
            #expect(code == row.code, "\(bench.requests)")
            #expect(try bench.uploaded() == (row.code == nil ? [Self.digest] : []))
        }
    }

    /// What is refused is not sent to its end.
    @Test(arguments: [ClientVersions.http1, .http2])
    func aRefusedContentIsNotSent(_ http: ClientVersions) async throws {
        let bytes = [UInt8](repeating: 1, count: 64 << 20)
        let leg = UploadLeg(way: UploadWay(mode: .put), http: http)
        try await Self.laboratory(leg, Laboratory.rule("status:413")).run { bench in
            let task = try await bench.send(bytes, leg.way)
            #expect(task.failureCode == "status-413")
            #expect(task.sent ?? 0 < 32 << 20, "\(task.sent ?? 0)")
        }
    }

    @Test(arguments: UploadWay.few) func logsIn(_ way: UploadWay) async throws {
        final class Source: CredentialSource {
            func authorization(
                for reference: String, at location: OriginLocation, schemes: [String],
                refused: String?
            ) async -> String? {
                refused == nil ? "Basic " + Base64.encode(Array("ann:ann".utf8)) : nil
            }
        }
        var laboratory = Self.laboratory(
            UploadLeg(way: way, http: .http1), Laboratory.rule("status:401", "turn = first"))
        laboratory.credentials = Source()
        try await laboratory.run { bench in
            let task = try await bench.send(Self.bytes, way) { $0.credential = "mine" }
            #expect(task.state == .completed, "\(bench.requests)")
            #expect(try await bench.digested() == [Self.digest])
        }
    }

    @Test(arguments: UploadLeg.safe.filter { $0.way.mode != .tus })
    func followsRedirectsThatKeepTheContent(_ leg: UploadLeg) async throws {
        let isNamed = leg.way.mode == .put || leg.way.mode == .automatic
        try await Self.laboratory(leg).run { bench in
            let path = "/redirect-to?status_code=307&url=/uploads" + (isNamed ? "/file" : "")
            let task = try await bench.send(Self.bytes, leg.way, to: path)
            #expect(task.state == .completed, "\(bench.requests)")
            #expect(try await bench.digested() == [Self.digest])
            #expect(task.hops.count == 1)
        }
    }

    // MARK: The file

    @Test(arguments: UploadWay.few) func aFileThatChangesFails(_ way: UploadWay) async throws {
        let rule = Laboratory.rule(
            "status:503",
            "method = \(way.mode == .tus || way.mode == .resumable ? "PATCH" : "PUT, POST")")
        try await Self.laboratory(UploadLeg(way: way, http: .http1), rule).run { bench in
            try Laboratory.Bench.put(Self.bytes, on: bench.disk)
            let service = bench.service
            let task = try service.enqueue(bench.uploadPlan(way))
            try service.resume(task.identifier)
            _ = await service.wait(for: task.identifier) { $0.requestCount > 0 }
            var other = Self.bytes
            other[0] ^= 1
            try Laboratory.Bench.put(other, on: bench.disk)
            let ended = await service.wait(for: task.identifier)
            #expect(ended?.failureCode == "source-changed")
            #expect(try bench.uploaded().isEmpty)
        }
    }

    @Test func whatCannotBeUploadedIsRefusedAtOnce() async throws {
        try await Laboratory().run { bench in
            func code(_ change: (inout TransferPlan) -> Void) throws -> String? {
                var plan = bench.uploadPlan(UploadWay(mode: .put))
                change(&plan)
                do throws(Failure) {
                    _ = try bench.service.enqueue(plan)
                    return nil
                } catch {
                    return error.code
                }
            }
            #expect(try code { _ in } == "source-unreadable")
            try Laboratory.Bench.put([1], on: bench.disk)
            #expect(try code { $0.options.upload.method = "PATCH" } == "upload-invalid")
            #expect(
                try code {
                    $0.options.upload.mode = .form
                    $0.options.upload.method = "PUT"
                } == "upload-invalid")
            #expect(try code { $0.options.upload.field = "a\r\nb" } == "upload-invalid")
            #expect(try code { $0.options.upload.contentType = "a\nb" } == "upload-invalid")
            #expect(try code { $0.options.upload.version = .tus } == "upload-invalid")
            #expect(try code { $0.options.storage = .complete } == "upload-invalid")
            #expect(try code { _ in } == nil)
        }
    }

    // MARK: Verbs

    @Test(arguments: UploadWay.resumable)
    func suspendsGoesOnAndIsCancelled(_ way: UploadWay) async throws {
        let rules =
            Laboratory.rule("withhold:100000", "reaches = 200000", "turn = first")
            + Laboratory.rule("withhold:50000", "reaches = 250000", "method = PATCH")
        var laboratory = Self.laboratory(UploadLeg(way: way, http: .http1), rules)
        laboratory.patience = 60_000
        let bytes = Laboratory.Bench.content(3, size: 8 << 20)
        try await laboratory.run { bench in
            try Laboratory.Bench.put(bytes, on: bench.disk)
            let service = bench.service
            let task = try service.enqueue(bench.uploadPlan(way))
            try service.resume(task.identifier)
            // The upload resource is in the journal.
            let transfer = try #require(service.transfers[task.identifier])
            func isKnown() -> Bool {
                transfer.uploadNote.flatMap { UploadState($0) }?.resource != nil
            }
            _ = await service.wait(for: task.identifier) { $0.sent ?? 0 > 0 && isKnown() }
            try service.suspend(task.identifier)
            _ = await service.wait(for: task.identifier) { $0.state == .suspended }
            let count = try #require(service.task(task.identifier)).requestCount
            try service.resume(task.identifier)
            // HEAD, and what it brings.
            _ = await service.wait(for: task.identifier) { $0.requestCount > count + 1 }
            #expect(try bench.uploadCount() == 1)
            try service.cancel(task.identifier)
            // It is told at once, and the upload resource goes then.
            let ended = await service.wait(for: task.identifier) { _ in !service.hasWork }
            #expect(ended?.state == .cancelled)
            #expect(try bench.uploadCount() == 0, "\(bench.requests)")
            #expect(bench.requests.contains { $0.contains("HEAD /uploads/") }, "\(bench.requests)")
        }
    }

    /// Where an upload resource is removed is the origin's to say.
    @Test(arguments: [301, 302, 307, 308, 303, 500])
    func isRemovedWhereARedirectLeads(_ status: Int) async throws {
        let network = RedirectingNetwork(status)
        let disk = MemoryDisk()
        try disk.makeFolder("/tasks/a")
        var plan = TransferPlan(.upload, "https://a.test/uploads", file: "/files/a")
        plan.options.upload.mode = .resumable
        let journal = try Journal.create(
            "/tasks/a/journal", plan, at: Timestamp(microseconds: 1), on: disk)
        let transfer = try RunningTransfer.of(
            journal.state, journal, "a", disk, network: network)
        var state = UploadState(.init(size: 9, modified: 1, inode: 1, sha256: [1]))
        state.resource = "https://a.test/uploads/1"
        try transfer.note(upload: state.journal)
        await UploadDriver().cleanUp(transfer)
        let isFollowed = [301, 302, 307, 308].contains(status)
        #expect(
            network.requests.withLock { $0 } == ["DELETE /uploads/1"]
                + (isFollowed ? ["DELETE /elsewhere/1"] : []))
    }

    /// Answers for one resource with a status and a Location, and with 204 for all others.
    private final class RedirectingNetwork: TransferNetwork {
        let requests = Mutex<[String]>([])
        private let status: Int

        init(_ status: Int) { self.status = status }

        func send(_ request: NetworkRequest) async throws(Failure) -> NetworkAnswer {
            let path = request.location.path
            requests.withLock { $0.append("\(request.method) \(path)") }
            let head = try ResponseHead.of(
                path == "/uploads/1" ? ["\(status)", "Location: /elsewhere/1"] : ["204"])
            _ = request.reception.take(head)
            return NetworkAnswer(
                head: head, trailers: head.fields, isDeclined: true, endedByClose: false)
        }

        func staysHere(_ location: OriginLocation) -> Bool { false }
    }

    /// A command that is given again before the upload has ended means that one, so that nothing is posted
    /// twice; once it has ended, or of another version of the file, it means another.
    @Test func theSameAgainIsOneUpload() async throws {
        let way = UploadWay(mode: .form)
        try await Self.laboratory(UploadLeg(way: way, http: .http1)).run { bench in
            let service = bench.service
            try Laboratory.Bench.put(Self.bytes, on: bench.disk)
            let plan = bench.uploadPlan(way)
            let task = try service.enqueue(plan)
            #expect(try service.transfer(doing: plan)?.identifier == task.identifier)
            var other = plan
            other.session = "other"
            #expect(try service.transfer(doing: other) == nil)
            #expect(
                try service.transfer(doing: bench.uploadPlan(UploadWay(mode: .tus))) == nil)
            let transfer = try #require(service.transfers[task.identifier])
            let identity = try bench.disk.openSource(Laboratory.Bench.source).identity()
            let state = UploadState(
                .init(
                    size: Int64(identity.size), modified: identity.modified,
                    inode: identity.inode, sha256: Digests.sha256(Self.bytes)))
            try transfer.note(upload: state.journal)
            #expect(try service.transfer(doing: plan)?.identifier == task.identifier)
            try service.resume(task.identifier)
            #expect(await service.wait(for: task.identifier)?.state == .completed)
            #expect(try service.transfer(doing: plan) == nil)
            // Another way of its own does not hide it, nor does a file that an attempt has opened.
            let next = try #require(service.transfers[try service.enqueue(plan).identifier])
            _ = try service.enqueue(bench.uploadPlan(UploadWay(mode: .put)))
            #expect(try service.transfer(doing: plan)?.identifier == next.task.identifier)
            next.source = try UploadSource(next)
            // Nor does one of another file that stands there for a while, nor its end.
            let source = Laboratory.Bench.source
            try bench.disk.rename(source, to: source + ".bak", replacing: true)
            try Laboratory.Bench.put([1], on: bench.disk)
            #expect(try service.transfer(doing: plan) == nil)
            let later = try #require(service.transfers[try service.enqueue(plan).identifier])
            later.source = try UploadSource(later)
            #expect(try service.transfer(doing: plan)?.identifier == later.task.identifier)
            try bench.disk.rename(source + ".bak", to: source, replacing: true)
            #expect(try service.transfer(doing: plan)?.identifier == next.task.identifier)
            service.forget(later)
            #expect(try service.transfer(doing: plan)?.identifier == next.task.identifier)
            service.forget(next)
            #expect(try service.transfer(doing: plan) == nil)
        }
    }

    /// Limits of the server.
    @Test(arguments: UploadWay.resumable)
    func whatIsTooLargeIsRefused(_ way: UploadWay) async throws {
        var laboratory = Self.laboratory(UploadLeg(way: way, http: .http1))
        laboratory.uploadLimits.byteCount = 100_000
        try await laboratory.run { bench in
            let task = try await bench.send(Self.bytes, way)
            let codes = ["upload-too-large", "status-413", "status-400"]
            #expect(codes.contains(task.failureCode ?? ""), "\(task.state) \(bench.requests)")
            #expect(try bench.uploaded().isEmpty)
        }
    }
}
