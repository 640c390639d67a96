import Base
import Foundation
import TLS
import Testing

@testable import Commands

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
