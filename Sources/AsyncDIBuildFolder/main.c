// Does nothing. A build-tool plugin is told the path of its tools alone: of this one, and so the folder where the build puts
// an application's checker too. In C, because a Swift program would take ten times as long to build.
int main(void) { return 0; }
