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
}
