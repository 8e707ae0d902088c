import EideticCore
import EideticStore
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Image bundles")
struct ImageBundleTests {
    @Test(
        "C04 MD5 returns the digests of RFC 1321",
        arguments: [
            ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            (
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "d174ab98d277d9f5a5611c2c9f419d9f"
            ),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a"
            ),
        ]
    )
    func digests(_ text: String, digest: String) { #expect(MD5.hexadecimal(Array(text.utf8)) == digest) }

    @Test("C04 MD5 of every length around a block agrees with md5sum")
    func lengths() async throws {
        let directory = try TemporaryDirectory()
        for count in 50...70 { try directory.write(pattern(count), to: "\(count)") }
        let names = (50...70).map { directory.path(of: "\($0)") }
        let result = await (try Subprocess("md5sum", arguments: names)).waitUntilExit()
        let digests = result.outputText.split(separator: "\n").map { String($0.prefix(32)) }
        #expect(digests == (50...70).map { MD5.hexadecimal(pattern($0)) })
    }

    @Test(
        "C04 a file is named after the key's MD5 and the extension of its path",
        arguments: [
            ("http://a/b.png", ".png"), ("http://a/b.png?x=1.2", ".png"), ("http://a/b?x=c.png", ""),
            ("http://a/b.tar.gz#f.x", ".gz"), ("http://a.b/c", ""), ("key", ""), ("a b?c.png", ".png"),
            ("http://a/.png", ""), ("a.b/\u{301}c.png", ".png"), ("a.b/\u{301}c", ""),
        ]
    )
    func names(_ key: String, fileExtension: String) {
        let digest = MD5.hexadecimal(Array(key.utf8))
        let paths = ImageBundle(directory: "/d").paths(for: key)
        #expect(paths == (fileExtension.isEmpty ? ["/d/\(digest)"] : ["/d/\(digest)\(fileExtension)", "/d/\(digest)"]))
    }

    @Test("C04 an empty key and an over-long extension are safe")
    func badNames() throws {
        let bundle = ImageBundle(directory: "/d")
        #expect(bundle.paths(for: "").isEmpty)
        #expect(try bundle.read("") == nil)
        #expect(bundle.paths(for: "http://a/b." + String(repeating: "x", count: 223)).count == 1)
        #expect(bundle.paths(for: "http://a/b." + String(repeating: "x", count: 222)).count == 2)
    }

    @Test("C04 C05 bundles are searched after the cache, with the extension and without, and never changed")
    func search() throws {
        let directory = try TemporaryDirectory()
        let old = ImageBundle.sdWebImage(in: directory.path)
        let bundle = ImageBundle(directory: directory.path(of: "bundle"))
        try directory.write(
            [1],
            to: "com.hackemist.SDWebImageCache.default/\(MD5.hexadecimal(Array("http://a/1.png".utf8))).png"
        )
        try directory.write([2], to: "bundle/\(MD5.hexadecimal(Array("http://a/2.png".utf8)))")
        try directory.write([9], to: "bundle/\(MD5.hexadecimal(Array("http://a/1.png".utf8)))")
        let fixture = try DiskFixture { $0.bundles = [old, bundle] }
        #expect(try fixture.cache.blocking.read("http://a/1.png")?.bytes == [1])
        #expect(try fixture.cache.blocking.read("http://a/2.png")?.bytes == [2])
        #expect(try fixture.cache.blocking.contains("http://a/2.png"))
        #expect(try fixture.cache.blocking.read("http://a/3.png") == nil)
        try fixture.cache.blocking.insert([3], for: "http://a/1.png")
        #expect(try fixture.cache.blocking.read("http://a/1.png")?.bytes == [3])
        #expect(try fixture.cache.blocking.remove("http://a/1.png") != nil)
        try fixture.cache.blocking.removeAll()
        #expect(try fixture.cache.blocking.read("http://a/1.png")?.bytes == [1])
    }
}
