internal import Base
internal import Glibc

/// Finds the process that has a socket open, by `/proc/PID/fd`, and remembers where sockets were.
///
/// What is remembered is only ever a guess that a look at the descriptor confirms, so nothing has to
/// be forgotten in time.
package struct SocketOwners {
    /// A descriptor of a process.
    private struct Place: Equatable {
        let process: Int32
        let descriptor: Int32
    }

    /// Where each socket was that the last searches came by.
    private var places: [UInt64: Place] = [:]
    /// Where sockets were found, the latest last.
    private var recent: [Place] = []

    package init() {}

    /// Looks where the last ones were.
    package mutating func recentOwner(of inode: UInt64) -> Int32? {
        if let place = places[inode], holds(place, inode) { return found(place) }
        for place in recent.reversed() {
            // The lowest number that is free: that of a connection closed since, or the next ones.
            for step in 0...Self.stepLimit {
                let guess = Place(process: place.process, descriptor: place.descriptor &+ step)
                if holds(guess, inode) { return found(guess) }
            }
        }
        var budget = Self.recentDescriptorLimit
        for process in recent.map(\.process).reversed() where budget > 0 {
            if let place = search(inode, in: process, budget: &budget) { return found(place) }
        }
        return nil
    }

    /// Looks through all processes, the youngest first.
    package mutating func search(_ inode: UInt64) -> Int32? {
        var budget = Int.max
        for process in Folder.numbers("/proc").sorted(by: >) {
            if let place = search(inode, in: process, budget: &budget) { return found(place) }
        }
        return nil
    }

    /// Looks for several in one walk through all processes, the youngest first.
    ///
    /// - Returns: the owner of each that was found.
    package func search(_ inodes: Set<UInt64>) -> [UInt64: Int32] {
        var missing = inodes
        var owners: [UInt64: Int32] = [:]
        for process in Folder.numbers("/proc").sorted(by: >) where !missing.isEmpty {
            for descriptor in Folder.numbers("/proc/\(process)/fd") {
                let place = Place(process: process, descriptor: descriptor)
                guard let inode = socket(at: place), missing.remove(inode) != nil else { continue }
                owners[inode] = process
            }
        }
        return owners
    }

    /// - Parameter budget: how many descriptors may be looked at; the rest is left in it.
    private mutating func search(
        _ inode: UInt64, in process: Int32, budget: inout Int
    ) -> Place? {
        var result: Place?
        if places.count > Self.placeLimit { places = [:] }
        for descriptor in Folder.numbers("/proc/\(process)/fd").prefix(budget) {
            budget -= 1
            let place = Place(process: process, descriptor: descriptor)
            guard let other = socket(at: place) else { continue }
            places[other] = place
            if other == inode { result = place }
        }
        return result
    }

    private mutating func found(_ place: Place) -> Int32 {
        recent.removeAll { $0.process == place.process }
        recent.append(place)
        if recent.count > Self.recentLimit { recent.removeFirst() }
        return place.process
    }

    private func holds(_ place: Place, _ inode: UInt64) -> Bool {
        socket(at: place) == inode
    }

    /// The number of the socket at a descriptor; `nil` if it is none, or may not be seen.
    private func socket(at place: Place) -> UInt64? {
        let target = Link.target("/proc/\(place.process)/fd/\(place.descriptor)", byteLimit: 64)
        guard let target, target.starts(with: Self.prefix), target.last == UInt8(ascii: "]") else {
            return nil
        }
        return UInt64(
            String(decoding: target.dropFirst(Self.prefix.count).dropLast(), as: UTF8.self))
    }

    private static let prefix = Array("socket:[".utf8)
    /// Descriptors past the last one that are tried.
    private static let stepLimit: Int32 = 4
    /// Processes that are looked at before all.
    private static let recentLimit = 8
    /// Descriptors of theirs that are looked at: 1 ms or so, as this may be on an event loop.
    private static let recentDescriptorLimit = 1024
    /// Sockets that are remembered: 100 bytes each.
    private static let placeLimit = 16_384
}

/// Symbolic links.
enum Link {
    /// What the link points to, cut at a limit; `nil` if it may not be read.
    static func target(_ path: String, byteLimit: Int) -> ArraySlice<UInt8>? {
        var bytes = [UInt8](repeating: 0, count: byteLimit)
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe readlink(path, $0.baseAddress!, $0.count)
        }
        return count < 0 ? nil : bytes.prefix(count)
    }
}

/// Folders.
enum Folder {
    /// The entries whose names are numbers; none if the folder may not be read.
    static func numbers(_ path: String) -> [Int32] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var numbers: [Int32] = []
        while let entry = unsafe readdir(folder) {
            let number = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name -> Int32? in
                var number: Int32 = 0
                for index in 0..<name.count {
                    let byte = unsafe name[index]
                    if byte == 0 { return index == 0 ? nil : number }
                    guard byte.isASCIIDigit, index < 9 else { return nil }
                    number = number * 10 + Int32(byte - UInt8(ascii: "0"))
                }
                return nil
            }
            if let number { numbers.append(number) }
        }
        return numbers
    }
}
