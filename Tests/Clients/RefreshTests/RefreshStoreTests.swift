import Base
import Glibc
import Testing

@testable import Refresh

struct RefreshStoreTests {
    private static func withFolder(_ body: (String) throws -> Void) throws {
        let folder = "/tmp/sallyport-store-\(UUIDText.random())"
        try Files.makeFolder(folder)
        defer {
            for name in ["state", "state.damaged", "items.jsonl", "pending.jsonl"] {
                Files.remove("\(folder)/\(name)")
            }
            Files.remove(folder)
        }
        try body(folder)
    }

    private static func fill(_ folder: String) throws {
        var state = FeedState("http://h/feed")
        state.entityTag = "\"1\""
        state.known = ["aa", "bb"]
        state.notBefore = 7
        let store = try RefreshStore(folder: folder)
        let entries = ["1", "2"].map { KeptItem(FeedEntry(id: $0, title: "t"), of: state.url) }
        try store.commit(state, entries, aside: false)
    }

    @Test func remembers() throws {
        try Self.withFolder { folder in
            try Self.fill(folder)
            let store = try RefreshStore(folder: folder)
            let state = store.state(of: "http://h/feed")
            #expect(state.entityTag == "\"1\"")
            #expect(state.known == ["aa", "bb"])
            #expect(state.notBefore == 7)
            #expect(try RefreshStore.items(in: folder).map(\.id) == ["1", "2"])
            for name in ["state", "items.jsonl"] {
                #expect(Files.isPrivate("\(folder)/\(name)"))
            }
        }
    }

    /// A state that is cut anywhere, or has another byte anywhere, is seen.
    @Test func seesWhatIsTorn() throws {
        let whole = CheckedFile.bytes(schema: "s/1", [UInt8]("{\"feeds\":[]}".utf8))
        #expect(CheckedFile.judge(whole, schema: "s/1") == .whole([UInt8]("{\"feeds\":[]}".utf8)))
        #expect(CheckedFile.judge(whole, schema: "s/2") == .otherSchema("s/1"))
        for count in 0..<whole.count {
            #expect(CheckedFile.judge(Array(whole.prefix(count)), schema: "s/1") == .damaged)
        }
        for index in whole.indices {
            var other = whole
            other[index] ^= 1
            if case .whole = CheckedFile.judge(other, schema: "s/1") {
                Issue.record("byte \(index) may be another")
            }
        }
    }

    @Test func putsATornStateAside() throws {
        try Self.withFolder { folder in
            try Self.fill(folder)
            let bytes = try Files.read("\(folder)/state")
            try Files.replace("\(folder)/state", Array(bytes.dropLast(3)))
            let store = try RefreshStore(folder: folder)
            #expect(store.notes.count == 1)
            #expect(store.state(of: "http://h/feed").known.isEmpty)
            #expect(Files.exists("\(folder)/state.damaged"))
        }
    }

    @Test func leavesALaterVersionAlone() throws {
        try Self.withFolder { folder in
            let later = CheckedFile.bytes(schema: "sallyport.refresh-state/2", [0x7B, 0x7D])
            try Files.create("\(folder)/state", later)
            do throws(Failure) {
                _ = try RefreshStore(folder: folder)
                Issue.record("it was opened")
            } catch {
                #expect(error.code == "state-version")
            }
            #expect(try Files.read("\(folder)/state") == later)
        }
    }

    /// A line that was not written to its end is cut off, and what comes next is whole.
    @Test func cutsOffHalfALine() throws {
        try Self.withFolder { folder in
            try Self.fill(folder)
            let path = "\(folder)/items.jsonl"
            let bytes = try Files.read(path)
            try Files.replace(path, Array(bytes.dropLast(5)))
            let store = try RefreshStore(folder: folder)
            #expect(try RefreshStore.items(in: folder).map(\.id) == ["1"])
            var state = store.state(of: "http://h/feed")
            state.flapCount = 1
            let item = KeptItem(FeedEntry(id: "3"), of: state.url)
            try store.commit(state, [item], aside: false)
            #expect(try RefreshStore.items(in: folder).map(\.id) == ["1", "3"])
        }
    }

    private static func items(_ ids: Range<Int>, size: Int) -> [KeptItem] {
        let title = String(repeating: "t", count: size)
        return ids.map { KeptItem(FeedEntry(id: "\($0)", title: title), of: "http://h/feed") }
    }

    /// Too much at once, into a file that is not there, too much in all, and a file that has grown too
    /// long: the newest items are kept.
    @Test func boundsItems() throws {
        try Self.withFolder { folder in
            let path = "\(folder)/items.jsonl"
            let file = try ItemFile(path, byteLimit: 16 << 10)
            // The document begins with the newest.
            try file.append(Self.items(0..<40, size: 1000))
            #expect(try file.read().map(\.id) == (0..<7).map(String.init))
            for start in [100, 200, 300] {
                try file.append(Self.items(start..<start + 6, size: 1000))
                #expect(try Files.read(path).count <= 16 << 10)
                #expect(try file.read().last?.id == "\(start + 5)")
            }
            for _ in 0..<3 { try Files.append(path, try Files.read(path)) }
            #expect(try ItemFile.read(path, 16 << 10).last?.id == "305")
            let reopened = try ItemFile(path, byteLimit: 16 << 10)
            #expect(reopened.wasTooLong)
            #expect(try reopened.read().last?.id == "305")
            #expect(try Files.read(path).count <= 8 << 10)
        }
    }

    /// What a crash has let be added twice is there once.
    @Test func whatIsThereTwiceIsOneItem() throws {
        try Self.withFolder { folder in
            let file = try ItemFile("\(folder)/items.jsonl")
            try file.append(Self.items(0..<3, size: 10))
            try file.append(Self.items(1..<4, size: 10))
            #expect(try file.read().map(\.id) == ["0", "1", "2", "3"])
        }
    }

    /// A feed that brings more than all others pushes out its own items alone.
    @Test func sharesRoomAmongFeeds() throws {
        try Self.withFolder { folder in
            let file = try ItemFile("\(folder)/items.jsonl", byteLimit: 16 << 10)
            let quiet = ["a", "b"].map {
                KeptItem(FeedEntry(id: $0, title: "t"), of: "http://h/quiet")
            }
            try file.append(quiet)
            for start in 0..<10 {
                try file.append(Self.items(start * 10..<start * 10 + 6, size: 1000))
            }
            let items = try file.read()
            #expect(items.prefix(2).map(\.id) == ["a", "b"])
            #expect(items.last?.id == "95")
            #expect(try Files.read("\(folder)/items.jsonl").count <= 16 << 10)
        }
    }

    /// What an earlier version let grow is shortened, and what comes next is kept.
    @Test func opensWhatIsTooLong() throws {
        try Self.withFolder { folder in
            let path = "\(folder)/items.jsonl"
            let piece = [UInt8](repeating: 0x20, count: (1 << 20) - 1) + [0x0A]
            for _ in 0..<34 { try Files.append(path, piece) }
            let store = try RefreshStore(folder: folder)
            #expect(store.notes.count == 1)
            try store.commit(
                FeedState("http://h/feed"), Self.items(0..<2, size: 10), aside: false)
            #expect(try RefreshStore.items(in: folder).map(\.id) == ["0", "1"])
        }
    }

    /// Who may make a link in the folder does not choose the file that items are written to.
    @Test func followsNoLinks() throws {
        try Self.withFolder { folder in
            let store = try RefreshStore(folder: folder)
            let (victim, path) = ("\(folder)/state.damaged", "\(folder)/items.jsonl")
            try Files.create(victim, [])
            #expect(unsafe symlink(victim, path) == 0)
            #expect(throws: Failure.self) {
                try store.commit(
                    FeedState("http://h/feed"), Self.items(0..<2, size: 10), aside: false)
            }
            #expect(try Files.read(victim).isEmpty)
        }
    }

    @Test func boundsThumbnails() throws {
        let folder = "/tmp/sallyport-thumbnails-\(UUIDText.random())"
        defer { Files.remove(folder) }
        try Files.makeFolder(folder)
        for number in 0..<ThumbnailFolder.countLimit + 3 {
            try Files.create("\(folder)/\(number)", [1])
        }
        // Of those that are there only the first is of use to an item.
        let thumbnails = try ThumbnailFolder(folder, used: ["0", "../elsewhere"])
        let kept = try ["http://h/1", "http://h/2", "http://h/1"].map {
            try thumbnails.keep($0, [2])
        }
        let names = try Files.names(inFolder: folder)
        #expect(names.count == ThumbnailFolder.countLimit)
        #expect(Set(kept).count == 2)
        #expect(Set(names).isSuperset(of: kept + ["0"]))
        for name in names { Files.remove("\(folder)/\(name)") }
    }

    /// Feeds that nobody asks for any more are forgotten where one that is asked for needs room, the
    /// one that was current longest ago first.
    @Test func forgetsWhatIsNoLongerConfigured() throws {
        try Self.withFolder { folder in
            let store = try RefreshStore(folder: folder)
            for number in 0..<RefreshStore.feedLimit {
                var state = FeedState("http://h/\(number)")
                state.currentAt = Int64(1000 - number)
                try store.commit(state, [], aside: false)
            }
            let last = RefreshStore.feedLimit - 1
            store.configured = ["http://h/mine", "http://h/other", "http://h/\(last)"]
            var mine = FeedState("http://h/mine")
            mine.currentAt = 7
            try store.commit(mine, [], aside: false)
            // Room that is held is no room for another.
            try store.holdRoom(for: "http://h/other")
            let reopened = try RefreshStore(folder: folder)
            #expect(reopened.state(of: mine.url) == mine)
            #expect(reopened.state(of: "http://h/\(last)").currentAt == Int64(1000 - last))
            #expect(reopened.state(of: "http://h/\(last - 1)").currentAt == 0)
            #expect(store.state(of: "http://h/\(last - 2)").currentAt == 0)
            #expect(store.state(of: "http://h/\(last - 3)").currentAt == Int64(1003 - last))
            store.configured = nil
            #expect(throws: Failure.self) { try store.holdRoom(for: "http://h/more") }
            store.releaseRoom(for: "http://h/other")
            try store.holdRoom(for: "http://h/more")
        }
    }

    @Test func takesSoManyFeeds() throws {
        try Self.withFolder { folder in
            let store = try RefreshStore(folder: folder)
            for number in 0..<RefreshStore.feedLimit {
                try store.commit(FeedState("http://h/\(number)"), [], aside: false)
            }
            #expect(throws: Failure.self) {
                try store.commit(FeedState("http://h/more"), [], aside: false)
            }
        }
    }
}
