import Base
import TLS
import Testing

@testable import Transfer

/// Which digests are taken, and what is said of them.
@Suite(.serialized) struct DigestTests {
    /// A long file is read once more only where there is something to compare.
    @Test(arguments: [
        (told: false, wanted: false, limit: 1 << 20), (told: false, wanted: false, limit: 1023),
        (told: true, wanted: false, limit: 1023), (told: false, wanted: true, limit: 1023),
    ])
    func digestsWhatCanBeCompared(told: Bool, wanted: Bool, limit: Int64) async throws {
        let content = try await held("/assets/7/1k")
        let digest = Digests.sha256(content)
        var laboratory = Laboratory()
        laboratory.heedsWishes = told
        laboratory.limits.digestedSize = limit
        try await laboratory.run { bench in
            let task = try await bench.fetch("/assets/7/1k") {
                if wanted { $0.expected = ExpectedDigest(.sha256, digest) }
            }
            #expect(task.state == .completed)
            #expect(task.digest == (told || wanted || limit > 1024 ? digest : nil))
            #expect(try bench.bytes() == content)
        }
    }

    /// What the user named is the user's to mend, and both digests are told.
    @Test func tellsWhichDigestDiffers() async throws {
        try await Laboratory().run { bench in
            let wanted = [UInt8](repeating: 1, count: 32)
            let task = try await bench.fetch("/assets/7/1k") {
                $0.expected = ExpectedDigest(.sha256, wanted)
            }
            guard case .failed(let failure) = task.state else {
                Issue.record("\(task.state)")
                return
            }
            #expect(failure.party == .client)
            #expect(failure.detail.hasSuffix("and \(wanted.hex) was wanted"))
            #expect(failure.detail.contains(": its sha-256 was "))
        }
    }

    /// A digest that is named while others are taken counts as well.
    @Test func comparesADigestThatIsNamedAtTheEnd() async throws {
        try await Laboratory().run { bench in
            let service = bench.service
            let path = "/assets/7/4m"
            var plan = TransferPlan(.download, bench.origin + path, file: "/files/download")
            plan.options.expected = ExpectedDigest(.md5, Digests.md5(try await held(path)))
            let identifier = try service.enqueue(plan).identifier
            try service.resume(identifier)
            let found = await service.wait(for: identifier) {
                $0.state == .verifying || $0.state.isFinal
            }
            #expect(found?.state == .verifying)
            plan.options.expected = ExpectedDigest(.sha256, [UInt8](repeating: 1, count: 32))
            _ = try service.transfer(doing: plan)
            guard case .failed(let failure) = await service.wait(for: identifier)?.state else {
                Issue.record("\(String(describing: service.task(identifier)?.state))")
                return
            }
            #expect(failure.code == "digest-mismatch")
        }
    }

    /// What came without a digest is not said to have one, nor to be in the way.
    @Test func saysThatADigestIsUnknown() async throws {
        var laboratory = Laboratory()
        laboratory.heedsWishes = false
        laboratory.limits.digestedSize = 0
        try await laboratory.run { bench in
            let task = try await bench.fetch("/assets/7/1k")
            var plan = TransferPlan(.download, task.url, file: task.file)
            #expect(try bench.service.transfer(doing: plan)?.identifier == task.identifier)
            plan.options.expected = ExpectedDigest(.sha256, Digests.sha256(try bench.bytes()))
            #expect {
                try bench.service.transfer(doing: plan)
            } throws: {
                ($0 as? Failure)?.code == "digest-unknown"
            }
            try bench.disk.remove("/files/download")
            #expect(try bench.service.transfer(doing: plan) == nil, "it is fetched anew")
        }
    }
}
