package import Base
internal import Contents

/// Who has a folder of transfers, as it says itself in the locked file.
package struct HolderNote: Sendable, Equatable {
    package let processID: Int64
    /// That of the system's start, since process numbers are given anew after it.
    package let bootID: String

    package init(processID: Int64, bootID: String) {
        self.processID = processID
        self.bootID = bootID
    }

    /// This process, in this machine's present run.
    package static func present(processID: Int32) throws(Failure) -> HolderNote {
        let boot = try Files.read("/proc/sys/kernel/random/boot_id", byteLimit: 4096)
        return HolderNote(processID: Int64(processID), bootID: boot.trimmed.text)
    }

    var line: [UInt8] {
        let note: JSONText = ["pid": .integer(processID), "boot": .string(bootID)]
        return note.line + [UInt8(ascii: "\n")]
    }

    /// `nil` for what nobody has written whole.
    init?(_ bytes: [UInt8]) {
        guard let value = JSONObject(bytes), let processID = value.integer("pid"),
            let bootID = value.text("boot")
        else { return nil }
        self.init(processID: processID, bootID: bootID)
    }

    /// In bytes.
    static let sizeLimit = 512
}
