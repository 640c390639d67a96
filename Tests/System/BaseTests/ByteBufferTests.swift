import Testing

@testable import Base

struct ByteBufferTests {
    @Test func givesBackWhatWasAppendedInOrder() {
        let buffer = ByteBuffer(capacity: 8)
        buffer.append([1, 2, 3])
        buffer.append("ab")
        #expect(buffer.copy == [1, 2, 3, 0x61, 0x62])
        #expect(buffer.count == 5)
        #expect(buffer.room == 3)
        #expect(buffer[4] == 0x62)
        #expect(buffer.copy(1..<3) == [2, 3])
        #expect(buffer.copy(5..<5) == [])
    }

    @Test func makesRoomByCompacting() {
        let buffer = ByteBuffer(capacity: 4)
        buffer.append([1, 2, 3, 4])
        buffer.consume(3)
        #expect(buffer.room == 0)
        buffer.compact()
        #expect(buffer.room == 3)
        #expect(buffer.copy == [4])
        buffer.append([5, 6, 7])
        #expect(buffer.copy == [4, 5, 6, 7])
    }

    @Test func startsAnewWhenAllIsConsumed() {
        let buffer = ByteBuffer(capacity: 4)
        buffer.append([1, 2, 3, 4])
        buffer.consume(4)
        #expect(buffer.isEmpty)
        #expect(buffer.room == 4)
        let isEmpty = buffer.readable.isEmpty
        #expect(isEmpty)
    }

    @Test func forgetsEverything() {
        let buffer = ByteBuffer(capacity: 4)
        buffer.append([1, 2, 3])
        buffer.consume(1)
        buffer.removeAll()
        #expect(buffer.isEmpty)
        #expect(buffer.room == 4)
    }

    @Test func keepsOnlyWhatTheFillerWrote() {
        let buffer = ByteBuffer(capacity: 4)
        buffer.append([9])
        let count = unsafe buffer.fill { space in
            unsafe space[0] = 7
            unsafe space[1] = 8
            return space.count - 1
        }
        #expect(count == 2)
        #expect(buffer.copy == [9, 7, 8])
    }

    @Test func isUntouchedByAFillerThatThrows() {
        struct Refused: Error {}
        let buffer = ByteBuffer(capacity: 4)
        buffer.append([9])
        do throws(Refused) {
            _ = try unsafe buffer.fill { _ throws(Refused) in throw Refused() }
            Issue.record("the error was lost")
        } catch {}
        #expect(buffer.copy == [9])
    }

    @Test func lendsWhatWaits() {
        let buffer = ByteBuffer(capacity: 4)
        buffer.append([1, 2, 3])
        buffer.consume(1)
        let lent = unsafe buffer.withUnsafeReadable { unsafe [UInt8]($0) }
        #expect(lent == [2, 3])
        let (count, first) = (buffer.readable.count, buffer.readable[0])
        #expect(count == 2)
        #expect(first == 2)
    }

    /// Random operations against an array that does the same.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func agreesWithAnArray(seed: UInt64) {
        var random = SeededGenerator(state: seed)
        let buffer = ByteBuffer(capacity: 64)
        var model: [UInt8] = []
        for _ in 0..<20_000 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let count = Int.random(in: 0...buffer.room, using: &random)
                let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                buffer.append(bytes)
                model += bytes
            case 1:
                let count = Int.random(in: 0...model.count, using: &random)
                buffer.consume(count)
                model.removeFirst(count)
            case 2:
                buffer.compact()
                #expect(buffer.room == 64 - model.count)
            default:
                guard buffer.copy == model, buffer.count == model.count else {
                    Issue.record("the buffer holds something else than was put in")
                    return
                }
            }
        }
    }

    @Test func endsTheProcessRatherThanReadOutside() async {
        await #expect(processExitsWith: .failure) {
            let buffer = ByteBuffer(capacity: 4)
            buffer.append([1])
            print(buffer[1])
        }
        await #expect(processExitsWith: .failure) {
            let buffer = ByteBuffer(capacity: 4)
            buffer.append([1])
            buffer.consume(2)
        }
        await #expect(processExitsWith: .failure) {
            let buffer = ByteBuffer(capacity: 4)
            buffer.append([1, 2, 3, 4])
            buffer.append([5])
        }
    }
}

struct BufferPoolTests {
    @Test func givesTheSameBufferAgainEmpty() {
        let pool = BufferPool(capacity: 16, keepLimit: 2)
        let first = pool.take()
        first.append([1, 2])
        pool.give(first)
        let second = pool.take()
        #expect(second === first)
        #expect(second.isEmpty)
        #expect(second.capacity == 16)
    }

    /// What somebody writes who has given it back is not for whoever has it next.
    @Test func dropsWhatWasWrittenAfterItWasGivenBack() {
        let pool = BufferPool(capacity: 16, keepLimit: 2)
        let first = pool.take()
        pool.give(first)
        first.append([1, 2])
        #expect(pool.take().isEmpty)
    }

    @Test func keepsNoMoreThanItsLimit() {
        let pool = BufferPool(capacity: 16, keepLimit: 2)
        let taken = (0..<3).map { _ in pool.take() }
        for buffer in taken { pool.give(buffer) }
        let again = (0..<3).map { _ in pool.take() }
        #expect(again.filter { buffer in taken.contains { $0 === buffer } }.count == 2)
    }

    @Test func neverLendsABufferToTwo() {
        let pool = BufferPool(capacity: 16, keepLimit: 4)
        let (first, second) = (pool.take(), pool.take())
        pool.give(first)
        pool.give(second)
        pool.give(first)
        let lent = [pool.take(), pool.take(), pool.take()]
        #expect(Set(lent.map { ObjectIdentifier($0) }).count == 3)
    }

    @Test func neverLendsABufferOfAnotherSize() {
        let pool = BufferPool(capacity: 16, keepLimit: 2)
        pool.give(ByteBuffer(capacity: 4))
        #expect(pool.take().capacity == 16)
    }
}

/// A generator whose sequence depends on the seed only.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
