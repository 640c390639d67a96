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
            try service.change(identifier, to: plan.options)
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

    /// Nobody has a digest compared with another one than they named, nor loses theirs to a stranger.
    @Test func keepsTheDigestThatSomebodyNamed() async throws {
        try await Laboratory().run { bench in
            var plan = TransferPlan(
                .download, bench.origin + "/assets/7/1k", file: "/files/download")
            plan.options.expected = ExpectedDigest(
                .sha256, Digests.sha256(try await held("/assets/7/1k")))
            let task = try bench.service.enqueue(plan)
            var other = plan
            other.options.expected = ExpectedDigest(.sha256, [UInt8](repeating: 1, count: 32))
            // While it is under way, and when it is complete.
            for _ in 0..<2 {
                #expect {
                    try bench.service.transfer(doing: other)
                } throws: {
                    ($0 as? Failure)?.code == "digest-contradicted"
                }
                #expect(try bench.service.transfer(doing: plan)?.identifier == task.identifier)
                try bench.service.resume(task.identifier)
                let ended = await bench.service.wait(for: task.identifier)
                #expect(ended?.state == .completed)
            }
        }
    }

    /// A file that is another one by now is not told as what was fetched, though its size is the same.
    @Test(arguments: [nil, "/files/other"])
    func seesThatTheFileHasChanged(_ other: String?) async throws {
        try await Laboratory().run { bench in
            let task = try await bench.fetch("/assets/7/1k")
            var plan = TransferPlan(.download, task.url, file: task.file)
            plan.options.expected = ExpectedDigest(.sha256, Digests.sha256(try bench.bytes()))
            #expect(try bench.service.transfer(doing: plan)?.identifier == task.identifier)
            let changed = try bench.disk.open(other ?? "/files/download", creating: true)
            try changed.write([UInt8](repeating: 7, count: 1024).span, at: 0)
            if let other {
                try bench.disk.rename(other, to: "/files/download", replacing: true)
            }
            #expect {
                try bench.service.transfer(doing: plan)
            } throws: {
                ($0 as? Failure)?.code == "file-exists"
            }
        }
    }

    /// Whose time was set back may be another one: a digest is not said to hold then.
    @Test func doesNotTrustATimeThatWasSetBack() async throws {
        let disk = MemoryDisk()
        var laboratory = Laboratory()
        laboratory.disk = disk
        try await laboratory.run { bench in
            let task = try await bench.fetch("/assets/7/1k")
            var plan = TransferPlan(.download, task.url, file: task.file)
            let digest = Digests.sha256(try bench.bytes())
            disk.exchangeInPlace("/files/download", [UInt8](repeating: 7, count: 1024))
            #expect(try bench.service.transfer(doing: plan)?.identifier == task.identifier)
            plan.options.expected = ExpectedDigest(.sha256, digest)
            #expect {
                try bench.service.transfer(doing: plan)
            } throws: {
                ($0 as? Failure)?.code == "file-exists"
            }
        }
    }

    /// What was found right and could not be delivered is compared with that when it can.
    @Test(arguments: [false, true], [false, true])
    func comparesWhatWaitedForItsPlace(isDigested: Bool, isChanged: Bool) async throws {
        var laboratory = Laboratory()
        laboratory.heedsWishes = false
        if !isDigested { laboratory.limits.digestedSize = 0 }
        let disk = MemoryDisk()
        laboratory.disk = disk
        let content = try await held("/assets/7/100k")
        try await laboratory.run { bench in
            let service = bench.service
            let plan = TransferPlan(
                .download, bench.origin + "/assets/7/100k", file: "/files/download")
            let identifier = try service.enqueue(plan).identifier
            _ = try disk.open("/files/download", creating: true)
            try service.resume(identifier)
            let waiting = await service.wait(for: identifier) {
                $0.state.isFinal || $0.wait?.reason == .fileExists
            }
            #expect(waiting?.wait?.reason == .fileExists)
            let part = try #require(disk.paths.first { $0.hasSuffix(".part") })
            if isChanged { try disk.open(part, creating: false).write([1, 2, 3].span, at: 9) }
            try disk.remove("/files/download")
            try service.resume(identifier)
            let ended = await service.wait(for: identifier)
            #expect(ended?.state == .completed)
            #expect(ended?.restarts == (isChanged ? ["file-changed"] : []))
            #expect(try bench.bytes() == content)
        }
    }

    /// What is at its end gets there, and is not told as cancelled.
    @Test func isNotCancelledAtItsEnd() async throws {
        try await Laboratory().run { bench in
            let plan = TransferPlan(
                .download, bench.origin + "/assets/7/1k", file: "/files/download")
            let identifier = try bench.service.enqueue(plan).identifier
            bench.service.transfers[identifier]?.isDelivering = true
            #expect {
                try bench.service.cancel(identifier)
            } throws: {
                ($0 as? Failure)?.code == "transfer-ending"
            }
            #expect(bench.service.task(identifier)?.state == .suspended)
        }
    }
}
