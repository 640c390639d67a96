import Base
import Foundation
import Testing

struct FileLockTests {
    @Test func isHeldByOne() throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("sallyport-lock-\(UUID().uuidString)").path
        var first = try FileLock.take(path)
        #expect(first != nil)
        #expect(try FileLock.take(path) == nil)
        first = nil
        #expect(try FileLock.take(path) != nil)
        Files.remove(path)
    }

    @Test func needsItsFolder() {
        #expect(throws: Failure.self) { try FileLock.take("/nowhere/lock") }
    }
}
