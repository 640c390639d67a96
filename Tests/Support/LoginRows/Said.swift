import Base
package import Traffic

/// What one side said at once.
package struct Said: Sendable {
    package let direction: Direction
    package let bytes: [UInt8]

    package init(direction: Direction, bytes: [UInt8]) {
        self.direction = direction
        self.bytes = bytes
    }

    package static func client(_ bytes: [UInt8]) -> Said { Said(direction: .request, bytes: bytes) }
    package static func client(_ text: String) -> Said { .client(Array(text.utf8)) }
    package static func client(hex: String) -> Said { .client(unhexed(hex)) }
    package static func origin(_ bytes: [UInt8]) -> Said {
        Said(direction: .response, bytes: bytes)
    }
    package static func origin(_ text: String) -> Said { .origin(Array(text.utf8)) }
    package static func origin(hex: String) -> Said { .origin(unhexed(hex)) }
}

package func unhexed(_ text: String) -> [UInt8] {
    let digits = text.utf8.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}
