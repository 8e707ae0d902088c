import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("TemporaryDirectory")
struct TemporaryDirectoryTests {
    @Test("removes the directory with its contents when it is deallocated")
    func removesDirectory() throws {
        let path: String
        do {
            let directory = try TemporaryDirectory()
            path = directory.path
            try directory.write([1, 2], to: "deep/er/file")
            #expect(try directory.contents(of: "deep/er/file") == [1, 2])
            symlink("/usr", directory.path(of: "link"))
            chmod(directory.path(of: "deep"), 0)
        }
        #expect(access(path, F_OK) != 0)
        #expect(access("/usr", F_OK) == 0)
    }
}
