import EideticTransfer

// Downloads a file in the background, also over the end of this program, and waits for it if it can.
let session = try BackgroundURLSession(configuration: .init(identifier: "books"))
let known = try await session.allTasks.first as? DownloadTask
let task = try known ?? session.downloadTask(with: "https://example.org/book.epub")
task.resume()
let response = try await task.value(movingFileTo: "/tmp/book.epub")
print("status \(response.statusCode), \(task.progress.completed) bytes")
