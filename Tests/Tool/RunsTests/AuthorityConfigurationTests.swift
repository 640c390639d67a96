import Base
import Foundation
import TLS
import Testing

@testable import Runs

struct AuthorityConfigurationTests {
    @Test func keepsAnAuthorityForEachScope() throws {
        let state = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: state) } }
        let variables = ["XDG_STATE_HOME": state.path]

        func open(_ scope: String...) throws -> CertificateAuthority {
            var configuration = AuthorityConfiguration()
            configuration.scope = scope
            return try configuration.open(variables)
        }

        let own = try open()
        #expect(own.certificatePath == "\(state.path)/sallyport/ca/ca.pem")
        let scoped = try open("b.test", "a.test")
        // `printf 'a.test,b.test' | sha256sum`
        #expect(scoped.certificatePath == "\(state.path)/sallyport/ca-b5f390768fb8/ca.pem")
        #expect(try open("A.test", "B.TEST", "a.test").certificate.der == scoped.certificate.der)
        #expect(try open("a.test").certificate.der != scoped.certificate.der)
        #expect(try open().certificate.der == own.certificate.der)
    }

    /// What may be in the state folder when an audit makes a CA of its own.
    enum Before: String, CaseIterable {
        case nothing, auditWithOwn, emptyKeys, oldKeys, emptyOldKeys
    }

    @Test(arguments: Before.allCases)
    func makesAnAuditsAuthorityWhateverKeysThereAre(_ before: Before) throws {
        let state = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: state) } }
        let variables = ["XDG_STATE_HOME": state.path]
        let folder = "\(state.path)/sallyport"
        var kept: [UInt8]?
        switch before {
        case .nothing: break
        case .auditWithOwn:
            let made = try AuditAuthority.open(folder: "\(state.path)/own")
            var own = AuthorityConfiguration()
            own.certificatePath = made.certificatePath
            own.keyPath = "\(state.path)/own/ca.key"
            let opened = try own.openForAudit(variables)
            #expect(opened.authority.certificatePath == made.certificatePath)
            _ = try opened.keys.key(.rsa2048)
            kept = try Files.read("\(folder)/audit-keys/rsa2048.pem")
        case .emptyKeys: try Files.makeFolder("\(folder)/audit-keys")
        case .oldKeys:
            _ = try KeyCache(folder: "\(folder)/audit/keys").key(.rsa2048)
            kept = try Files.read("\(folder)/audit/keys/rsa2048.pem")
        case .emptyOldKeys: try Files.makeFolder("\(folder)/audit/keys")
        }
        let made = try AuthorityConfiguration().openForAudit(variables)
        #expect(made.authority.certificatePath == "\(folder)/audit/ca.pem")
        _ = try made.keys.key(.rsa2048)
        let key = try Files.read("\(folder)/audit-keys/rsa2048.pem")
        #expect(kept == nil || kept == key)
        let again = try AuthorityConfiguration().openForAudit(variables)
        #expect(again.authority.certificate.der == made.authority.certificate.der)
    }

    /// Such as the proxy's: every client would refuse the sound server.
    @Test func hasCertificatesBelowItForAnAudit() throws {
        let state = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: state) } }
        let variables = ["XDG_STATE_HOME": state.path]
        let proxys = try AuthorityConfiguration().open(variables)
        var own = AuthorityConfiguration()
        own.certificatePath = proxys.certificatePath
        own.keyPath = proxys.keyPath
        let failure = #expect(throws: Failure.self) { _ = try own.openForAudit(variables) }
        #expect(failure?.code == "certificate-invalid")
        #expect(failure?.detail.hasSuffix("ca.pem may have no CA below itself") == true)
        #expect(failure?.hint?.contains("pathlen:0") == true)
    }

    @Test(arguments: ["own.pem", nil], ["own.key", nil])
    func hasNoScopeForAnAuthorityOfTheUser(_ certificate: String?, _ key: String?) {
        guard certificate != nil || key != nil else { return }
        var configuration = AuthorityConfiguration()
        configuration.certificatePath = certificate
        configuration.keyPath = key
        configuration.scope = ["example.com"]
        do throws(Failure) {
            _ = try configuration.open([:])
            Issue.record("it was opened")
        } catch {
            #expect(error.code == "ca-unusable")
            #expect(error.hint?.contains("--ca-scope") == true)
        }
    }
}
