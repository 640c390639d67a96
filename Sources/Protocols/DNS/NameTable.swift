internal import Base
internal import Synchronization

/// Hands out addresses for names, and finds the name again when somebody connects to one.
///
/// The addresses are those of 198.18.0.0/15, which RFC 2544 set aside for tests of networks, so
/// that none is a real host's; .0 and .255 of each block of 256 are left out, which some take for
/// broadcasts, and so is 198.19.255.0/24, which is left for the network itself. There are no IPv6
/// addresses: who asks for one is told that there is none, and takes the other kind.
///
/// When all are in use, the name that was neither asked for nor connected to for the longest time
/// loses its address. A client that still holds that one then reaches another name, which is why
/// the bound is far above what a run asks for.
package final class NameTable: Sendable {
    /// How many names are known at once: at most 16 MiB of names of the greatest length.
    package static let standardLimit = 65_536
    /// How many addresses there are.
    package static let addressCount = blockCount * hostsInBlock

    private let nameLimit: Int
    private let state = Mutex(State())

    /// - Parameter nameLimit: 1 to `addressCount`; what is beyond is brought within.
    package init(nameLimit: Int = standardLimit) {
        self.nameLimit = min(max(nameLimit, 1), Self.addressCount)
    }

    /// How many names have an address.
    package var count: Int { state.withLock { $0.slots.count } }

    /// The address of a name: its own if it has one, or else one that is given to it now.
    ///
    /// - Parameter name: in lower case, without a final dot, as `DNSName.hostName` is.
    /// - Returns: 4 bytes.
    package func address(of name: String) -> [UInt8] {
        Self.address(at: state.withLock { $0.slot(of: name, limit: nameLimit) })
    }

    /// The name that has an address; being connected to counts as use.
    ///
    /// - Parameter address: 4 bytes, or 16 with an IPv4 address mapped into them.
    /// - Returns: `nil` if it is none of ours, or nobody asked for it.
    package func name(at address: [UInt8]) -> String? {
        guard let index = Self.index(of: address) else { return nil }
        return state.withLock { state in
            guard index < state.slots.count else { return nil }
            state.touch(index)
            return state.slots[index].name
        }
    }

    /// Whether an address is one of those that are handed out, to anyone or not.
    package static func isOurs(_ address: [UInt8]) -> Bool { index(of: address) != nil }

    /// 511 blocks of 256: the last one is left out.
    private static let blockCount = 511
    private static let hostsInBlock = 254

    private static func address(at index: Int) -> [UInt8] {
        let (block, host) = index.quotientAndRemainder(dividingBy: hostsInBlock)
        return [198, UInt8(18 + block / 256), UInt8(block % 256), UInt8(host + 1)]
    }

    private static func index(of address: [UInt8]) -> Int? {
        var address = address[...]
        if address.count == 16, address.starts(with: mapped) { address = address.dropFirst(12) }
        guard address.count == 4 else { return nil }
        let parts = address.map { Int($0) }
        guard parts[0] == 198, parts[1] == 18 || parts[1] == 19 else { return nil }
        let block = (parts[1] - 18) * 256 + parts[2]
        guard block < blockCount, (1...hostsInBlock).contains(parts[3]) else { return nil }
        return block * hostsInBlock + parts[3] - 1
    }

    /// RFC 4291 §2.5.5.2.
    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
}

/// The slots, one an address, chained in the order of their last use.
private struct State {
    struct Slot {
        var name: String
        /// Used more recently, `nil` for the newest.
        var newer: Int?
        /// Used less recently, `nil` for the oldest.
        var older: Int?
    }

    private(set) var slots: [Slot] = []
    private var indices: [String: Int] = [:]
    private var newest: Int?
    private var oldest: Int?

    mutating func slot(of name: String, limit: Int) -> Int {
        if let index = indices[name] {
            touch(index)
            return index
        }
        let index: Int
        if slots.count >= limit, let oldest {
            index = oldest
            indices[slots[index].name] = nil
            slots[index].name = name
            touch(index)
        } else {
            index = slots.count
            slots.append(Slot(name: name))
            link(index)
        }
        indices[name] = index
        return index
    }

    mutating func touch(_ index: Int) {
        guard index != newest else { return }
        let slot = slots[index]
        if let newer = slot.newer { slots[newer].older = slot.older }
        if let older = slot.older { slots[older].newer = slot.newer } else { oldest = slot.newer }
        link(index)
    }

    /// Makes a slot that is in no chain the newest.
    private mutating func link(_ index: Int) {
        slots[index].newer = nil
        slots[index].older = newest
        if let newest { slots[newest].newer = index } else { oldest = index }
        newest = index
    }
}
