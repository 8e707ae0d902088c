import EideticCore
import EideticHTTP
import Testing

@testable import EideticFetch

/// The fields that a downloader adds to requests, without a server.
@Suite("Request fields")
struct RequestFieldsTests {
    private func fields(_ configure: (inout Downloader.Configuration) -> Void = { _ in }) -> RequestFields {
        var configuration = Downloader.Configuration()
        configuration.headers = ["X-Own": "1"]
        configure(&configuration)
        return RequestFields(configuration)
    }

    @Test("L03 a request is sent with the common fields of now, under those of its own")
    func merging() {
        let fields = fields()
        var request: FetchRequest = "https://example.org/"
        request.headers = ["X-Own": "2"]
        #expect(fields.sentRequest(of: request).headers["X-Own"] == "2")
        #expect(fields.all["Accept"] == "image/*,*/*;q=0.8")
        fields.own = ["X-New": "3"]
        #expect(fields.all["X-Own"] == nil)
        #expect(fields.sentRequest(of: request).headers["X-New"] == "3")
    }

    @Test("L03 credentials stand for the field that they lead to, and those of the request come first")
    func credentials() {
        let fields = fields { $0.credentials = { _ in .bearer("a") } }
        var request: FetchRequest = "https://example.org/"
        func selecting(_ name: String) -> String? {
            fields.selectingFields(ofSent: request).first { $0.name == name }?.value
        }
        #expect(fields.requestForTransfer(request)?.headers["Authorization"] == "Bearer a")
        #expect(selecting("User-Agent")?.hasPrefix("eidetic/") == true)
        let common = selecting("Authorization")
        request.credentials = .basic(user: "u", password: "p")
        #expect(selecting("Authorization") != common)
        #expect(fields.requestForTransfer(request)?.headers["Authorization"] == "Basic dTpw")
        request.credentials = .digest(user: "u", password: "p")
        #expect(fields.requestForTransfer(request) == nil)
    }

    @Test("L03 an invalid common field fails each request")
    func invalid() {
        let fields = fields { $0.headers = ["X": "a\nb"] }
        #expect(throws: EideticError.self) { try fields.validate("https://example.org/") }
        fields.own = [:]
        #expect(throws: Never.self) { try fields.validate("https://example.org/") }
    }
}
