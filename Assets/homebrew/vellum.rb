# A formula for Homebrew, untested: the project is built and tested on Linux only.
#
#   make clean && tar -czf /tmp/vellum-0.2.0.tar.gz .
#   HOMEBREW_VELLUM_SOURCE=file:///tmp/vellum-0.2.0.tar.gz brew install --formula Assets/homebrew/vellum.rb
class Vellum < Formula
  desc "Browser and command line for live Vellum stores"
  homepage "file://#{HOMEBREW_PREFIX}/share/man/man1/vellum.1"
  url ENV.fetch("HOMEBREW_VELLUM_SOURCE")
  version "0.2.0"
  license "MIT"

  # Swift 6.2.
  depends_on xcode: ["26.0", :build] if OS.mac?
  uses_from_macos "swift" => :build
  uses_from_macos "ncurses"

  def install
    system "swift", "build", "--disable-sandbox", "-c", "release", "--product", "vellum"
    system "make", "install-files", "PREFIX=#{prefix}"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/vellum --version")
    system bin/"vellum", "demo", "--no-browse", "--seconds", "1"
  end
end
