(error) => {
  const message = document.getElementById('message');
  message.textContent = `Cannot show this page: ${error.message}. It needs a browser from 2024 or later.`;
  message.hidden = false;
  document.body.removeAttribute('aria-busy');
  throw error;
}