import Base
import ContentServer
import HTTPServer
import Testing

struct PortalRoutesTests {
    private static let server = ContentServer(ContentServerConfiguration())

    @Test(arguments: [
        (
            "GET", "/portal/302/assets/1/5?a=b", false, 302,
            "/portal/login?to=%2Fassets%2F1%2F5%3Fa%3Db"
        ),
        ("GET", "/portal/200/assets/1/5", false, 200, nil),
        ("GET", "/portal/302/assets/1/5?a=b", true, 307, "/assets/1/5?a=b"),
        ("GET", "/portal/200/assets/1/5", true, 307, "/assets/1/5"),
        ("GET", "/portal/302//evil.test/", true, 307, "/evil.test/"),
        ("POST", "/portal/login?to=%2Fassets%2F1%2F5", false, 303, "/assets/1/5"),
        ("POST", "/portal/login?to=//evil.test/", false, 303, "/evil.test/"),
        ("POST", "/portal/login?to=/%5Cevil.test", false, 303, "/evil.test"),
        ("POST", "/portal/login?to=https://evil.test/", false, 303, "/https://evil.test/"),
        ("POST", "/portal/login", false, 303, "/"),
        ("GET", "/portal/login", false, 200, nil),
    ])
    func answers(
        _ method: String, _ path: String, _ isOpen: Bool, _ status: Int, _ location: String?
    ) async throws {
        let cookie = isOpen ? [("Cookie", "a=b; portal=open")] : []
        let response = await Self.server.answer(
            try request(method, path, cookie), RequestBody([]))
        #expect(response.status == status)
        #expect(response.first("Location") == location)
        #expect(
            (response.first("Set-Cookie")?.hasPrefix("portal=open;") == true) == (status == 303))
        if status == 200 {
            #expect(response.first("Content-Type") == "text/html; charset=utf-8")
            #expect(try await response.content().text.contains("<form"))
        }
    }
}
