package import Base
internal import Contents
internal import Synchronization
internal import TLS

/// The keys of the storage classes: which of them there are depends on whether the device is locked,
/// and was unlocked since its start.
///
/// Each class has a key, made once and sealed under a key from the owner's passcode. Files have keys
/// of their own, sealed under their class's; a file of `completeUnlessOpen` is sealed for a public key,
/// so that one can be begun while nobody could open it again.
package final class StorageVault: Sendable {
    private let description: Description
    private let keys = Mutex(Keys())

    /// What is in the vault's file: nothing of it is a secret without the passcode.
    fileprivate struct Description {
        let salt: [UInt8]
        let untilFirstUnlock: [UInt8]
        let complete: [UInt8]
        let privateKey: [UInt8]
        let publicKey: [UInt8]
    }

    /// Only what may be opened now.
    private struct Keys {
        var untilFirstUnlock: [UInt8]?
        var complete: [UInt8]?
        var privateKey: PrivateKey?
    }

    /// Opens the vault in a folder, locked as after a start.
    ///
    /// - Returns: `nil` if there is none.
    ///
    /// Errors: `vault-unreadable`.
    package static func open(
        in folder: String, on disk: any TransferDisk = SystemDisk()
    ) throws(Failure) -> StorageVault? {
        do throws(DiskFailure) {
            let path = "\(folder)/\(Self.name)"
            guard let size = try disk.size(of: path), size > 0 else { return nil }
            let file = try disk.open(path, creating: false)
            let bytes = try file.read(at: 0, count: Int(min(size, Self.sizeLimit)))
            guard let description = Description(bytes) else {
                throw DiskFailure(.other, "cannot read \(path): it is no vault")
            }
            return StorageVault(description)
        } catch {
            throw Failure("vault-unreadable", party: .tool, error.detail)
        }
    }

    /// Makes a vault, which is unlocked then.
    ///
    /// Errors: `file-exists`, those of the files.
    package static func create(
        in folder: String, passcode: [UInt8], on disk: any TransferDisk = SystemDisk()
    ) throws(Failure) -> StorageVault {
        let (untilFirstUnlock, complete) = (Digests.randomBytes(32), Digests.randomBytes(32))
        let privateKey = PrivateKey.p256()
        let salt = Digests.randomBytes(16)
        let key = Digests.key(password: passcode, salt: salt, rounds: rounds)
        let description = Description(
            salt: salt, untilFirstUnlock: SealedBox.seal(untilFirstUnlock, under: key),
            complete: SealedBox.seal(complete, under: key),
            privateKey: SealedBox.seal(privateKey.pem, under: key),
            publicKey: PublicKey(of: privateKey).pem)
        do throws(DiskFailure) {
            let path = "\(folder)/\(name)"
            guard try disk.size(of: path) ?? 0 == 0 else {
                throw DiskFailure(.exists, "cannot make \(path): there is one")
            }
            try disk.makeFolder(folder)
            let file = try disk.open(path, creating: true)
            try file.write(description.document.span, at: 0)
            try file.sync()
            try disk.syncFolder(folder)
        } catch {
            throw error.failure
        }
        let vault = StorageVault(description)
        vault.keys.withLock {
            $0 = Keys(
                untilFirstUnlock: untilFirstUnlock, complete: complete, privateKey: privateKey)
        }
        return vault
    }

    private init(_ description: Description) {
        self.description = description
    }

    // MARK: Events

    /// - Returns: whether the passcode is right.
    package func unlock(passcode: [UInt8]) -> Bool {
        let key = Digests.key(
            password: passcode, salt: description.salt, rounds: Self.rounds)
        guard let untilFirstUnlock = SealedBox.open(description.untilFirstUnlock, under: key),
            let complete = SealedBox.open(description.complete, under: key),
            let pem = SealedBox.open(description.privateKey, under: key),
            let privateKey = Self.privateKey(pem)
        else { return false }
        keys.withLock {
            $0 = Keys(
                untilFirstUnlock: untilFirstUnlock, complete: complete, privateKey: privateKey)
        }
        return true
    }

    private static func privateKey(_ pem: [UInt8]) -> PrivateKey? {
        do throws(Failure) {
            return try PrivateKey.read(pem: pem, password: nil, name: "vault")
        } catch {
            return nil
        }
    }

    package func lock() {
        keys.withLock { keys in
            keys.complete = nil
            keys.privateKey = nil
        }
    }

    /// As after a start of the device.
    package func restart() { keys.withLock { $0 = Keys() } }

    package var isLocked: Bool { keys.withLock { $0.complete == nil } }
    package var wasUnlocked: Bool { keys.withLock { $0.untilFirstUnlock != nil } }

    // MARK: Keys of files

    /// Seals the key of a new file.
    ///
    /// - Returns: `nil` if the class has no key now.
    func seal(_ key: [UInt8], for storage: StorageClass) -> [UInt8]? {
        switch storage {
        case .none: return key
        case .untilFirstUnlock, .complete:
            return classKey(storage).map { SealedBox.seal(key, under: $0) }
        case .completeUnlessOpen:
            guard let recipient = Self.publicKey(description.publicKey) else { return nil }
            let once = PrivateKey.p256()
            let pem = PublicKey(of: once).pem
            guard let secret = once.agreement(with: recipient) else { return nil }
            let size = [
                UInt8(truncatingIfNeeded: pem.count >> 8), UInt8(truncatingIfNeeded: pem.count),
            ]
            return size + pem + SealedBox.seal(key, under: Self.key(secret, pem))
        }
    }

    /// - Returns: `nil` if it cannot be opened now.
    func open(_ sealed: [UInt8], of storage: StorageClass) -> [UInt8]? {
        switch storage {
        case .none: return sealed
        case .untilFirstUnlock, .complete:
            return classKey(storage).flatMap { SealedBox.open(sealed, under: $0) }
        case .completeUnlessOpen:
            var cursor = ByteCursor(sealed[...])
            guard let privateKey = keys.withLock({ $0.privateKey }),
                let pem = cursor.vector(2).map({ [UInt8]($0) }),
                let sender = Self.publicKey(pem),
                let secret = privateKey.agreement(with: sender)
            else { return nil }
            return SealedBox.open([UInt8](cursor.rest), under: Self.key(secret, pem))
        }
    }

    private func classKey(_ storage: StorageClass) -> [UInt8]? {
        keys.withLock { storage == .complete ? $0.complete : $0.untilFirstUnlock }
    }

    private static func key(_ secret: [UInt8], _ pem: [UInt8]) -> [UInt8] {
        Digests.hmacSHA256(key: secret, Array("sallyport storage".utf8) + pem)
    }

    private static func publicKey(_ pem: [UInt8]) -> PublicKey? {
        do throws(Failure) {
            return try PublicKey(pem: pem, name: "vault")
        } catch {
            return nil
        }
    }

    private static let name = "vault"
    private static let sizeLimit: Int64 = 1 << 16
    /// What OWASP advises for PBKDF2 with HMAC-SHA-256: a fifth of a second.
    private static let rounds = 600_000
}

extension StorageVault.Description {
    fileprivate init?(_ bytes: [UInt8]) {
        guard let value = JSONObject(bytes), let salt = value.bytes("salt"),
            let untilFirstUnlock = value.bytes("untilFirstUnlock"),
            let complete = value.bytes("complete"), let privateKey = value.bytes("privateKey"),
            let publicKey = value.text("publicKey")
        else { return nil }
        self.init(
            salt: salt, untilFirstUnlock: untilFirstUnlock, complete: complete,
            privateKey: privateKey, publicKey: [UInt8](publicKey.utf8))
    }

    fileprivate var document: [UInt8] {
        let value: JSONText = [
            "salt": .string(salt.hex), "untilFirstUnlock": .string(untilFirstUnlock.hex),
            "complete": .string(complete.hex), "privateKey": .string(privateKey.hex),
            "publicKey": .bytes(publicKey),
        ]
        return value.document
    }
}

/// AES-256-GCM with a nonce of its own each time, which stands ahead of what is sealed.
enum SealedBox {
    /// In bytes: what sealing adds.
    static let overhead = AEADSession.nonceLength + AEADSession.tagLength

    /// - Parameter place: what it is sealed for besides, such as a place in a file.
    static func seal(_ content: [UInt8], under key: [UInt8], at place: [UInt8] = []) -> [UInt8] {
        let nonce = Digests.randomBytes(AEADSession.nonceLength)
        var sealed = nonce
        AEADSession(.aes256GCM, key: key).seal(
            content, nonce: nonce, authenticated: place, into: &sealed)
        return sealed
    }

    /// - Returns: `nil` if it was not sealed so.
    static func open(_ sealed: [UInt8], under key: [UInt8], at place: [UInt8] = []) -> [UInt8]? {
        guard sealed.count >= overhead else { return nil }
        return AEADSession(.aes256GCM, key: key).open(
            sealed[AEADSession.nonceLength...],
            nonce: Array(sealed.prefix(AEADSession.nonceLength)), authenticated: place)
    }
}
